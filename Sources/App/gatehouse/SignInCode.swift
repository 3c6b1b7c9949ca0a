import Gateway

/// The QR code of an address that signs in, for phones. Only a terminal shows it: a script gets what it got before.
enum SignInCode {
    /// Draws the code below a line that says what it is for. Where standard output is not a terminal, or one that is too
    /// narrow, nothing is printed.
    /// - Parameter isLight: whether the terminal has a light background.
    static func show(_ address: String, words: String, isLight: Bool) {
        guard let width = Terminal.width, let code = QRCode(address)?.text(isInverted: isLight),
            code.prefix(while: { $0 != "\n" }).count <= width
        else { return }
        print(words)
        print(code)
    }
}
