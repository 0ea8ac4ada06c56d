//! Who acts: principals, roles, scopes, and what each role may do (contract section 12).
