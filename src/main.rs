//! Parses the command line, calls the library and maps the result to an exit code.

fn main() -> std::process::ExitCode {
    tribunal::cli::main(std::env::args_os())
}
