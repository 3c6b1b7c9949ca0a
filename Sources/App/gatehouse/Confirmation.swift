import ArgumentParser

/// What somebody agrees to before a command does it.
enum Confirmation {
    /// Asks on standard output, and reads the answer from standard input.
    /// - Throws: a failure if standard input has no answer. Otherwise a script that forgot `--yes` would take it for success.
    static func answer(to question: String) throws -> String {
        print(question, terminator: "")
        if let answer = readLine() { return answer }
        print()
        printError("gatehouse: nothing was changed, because nobody answered; add --yes")
        throw ExitCode.failure
    }
}
