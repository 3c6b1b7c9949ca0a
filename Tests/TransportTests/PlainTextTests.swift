import Testing
import Transport

@Suite struct PlainTextTests {
    /// What turns a terminal's title, clears it, hides text, or reverses it.
    static let hostile: [(Unicode.Scalar, String)] = [
        ("\u{00}", "\\u0000"), ("\u{07}", "\\u0007"), ("\u{08}", "\\u0008"), ("\u{1B}", "\\u001b"),
        ("\u{7F}", "\\u007f"), ("\u{85}", "\\u0085"), ("\u{9B}", "\\u009b"), ("\u{9D}", "\\u009d"),
        ("\u{061C}", "\\u061c"), ("\u{200E}", "\\u200e"), ("\u{202A}", "\\u202a"), ("\u{202E}", "\\u202e"),
        ("\u{2028}", "\\u2028"), ("\u{2066}", "\\u2066"), ("\u{2069}", "\\u2069"),
    ]

    @Test(arguments: hostile)
    func terminalControlsAreEscaped(scalar: Unicode.Scalar, escaped: String) {
        #expect("a\(scalar)b".forTerminal == "a\(escaped)b")
        #expect("a\(scalar)b".onOneLine == "a\(escaped)b")
        // Also inside of a cluster.
        #expect("e\u{301}\(scalar)\u{301}".onOneLine == "e\u{301}\(escaped)\u{301}")
    }

    @Test func ordinaryTextIsKept() {
        for text in ["", "Haustür größer µ 門 🚪👩‍👧 עברית", "m=video 9 UDP/TLS/RTP/SAVPF 96"] {
            #expect(text.forTerminal == text && text.onOneLine == text)
        }
    }

    @Test func linesStayOnATerminalAndNotOnOneLine() {
        #expect("a\r\nb\n\tc".forTerminal == "a\r\nb\n\tc")
        #expect("a\r\nb\n\tc".onOneLine == "a\\u000d\\u000ab\\u000a\\u0009c")
        // Alone it would let what follows cover the line.
        #expect("password wrong\rall is well".forTerminal == "password wrong\\u000dall is well")
        #expect("a\r\r\n".forTerminal == "a\\u000d\r\n")
    }
}
