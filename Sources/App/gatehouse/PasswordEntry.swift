import ArgumentParser
import Foundation

#if canImport(Glibc)
    import Glibc
#endif

/// The password that a person enters, which the terminal does not show; without a terminal, the first line of standard input.
func enteredPassword() throws -> String {
    let isTerminal = isatty(STDIN_FILENO) == 1
    var settings = termios()
    if isTerminal {
        printError("Password: ", terminator: "")
        tcgetattr(STDIN_FILENO, &settings)
        var silent = settings
        silent.c_lflag &= ~tcflag_t(ECHO)
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent)
    }
    defer {
        if isTerminal {
            tcsetattr(STDIN_FILENO, TCSAFLUSH, &settings)
            printError("")
        }
    }
    guard let password = readLine(strippingNewline: true), !password.isEmpty else {
        throw ValidationError("no password was entered")
    }
    return password
}
