import Foundation
import Glibc
import Transport

/// Writes text to standard output. It shadows Swift's own `print`, so text from a camera or a peer never reaches the
/// terminal unchanged.
func print(_ text: String, terminator: String = "\n") {
    StandardStream.output(text.forTerminal + terminator)
}

/// Writes text to standard error.
func printError(_ text: String, terminator: String = "\n") {
    StandardStream.error(text.forTerminal + terminator)
}

/// Writes JSON and a line break to standard output. JSON leaves some characters unescaped that a terminal obeys. They
/// occur only in strings, where they may be escaped.
func printJSON(_ data: Data) {
    StandardStream.output(String(decoding: data, as: UTF8.self).forTerminal + "\n")
}

/// The terminal that standard output goes to.
enum Terminal {
    /// Its width in columns; nil where standard output is a file or a pipe.
    static let width: Int? = {
        guard isatty(STDOUT_FILENO) == 1 else { return nil }
        var size = winsize()
        let isKnown = ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0
        // The usual width, where the terminal does not know its own.
        return isKnown ? Int(size.ws_col) : 80
    }()
}

/// The streams that a command writes to. A reader such as `head` may close them at any time.
private enum StandardStream {
    /// Writes to standard output. Without a reader the process ends as other programs do, by SIGPIPE. With any other
    /// failure, such as a full disk, it ends with a message and exit code 1: the output is not whole.
    static func output(_ text: String) {
        guard let code = write(text, to: STDOUT_FILENO) else { return }
        if code == EPIPE { endWithoutReader() }
        error("gatehouse: standard output cannot be written: \(String(cString: strerror(code)))\n")
        exit(EXIT_FAILURE)
    }

    /// Writes to standard error. Where that fails nobody reads it, and the exit code still says how the command went.
    static func error(_ text: String) {
        _ = write(text, to: STDERR_FILENO)
    }

    /// Writes all of a text, and waits where the other side is slow.
    /// - Returns: the error number of the C library; nil when everything was written.
    private static func write(_ text: String, to descriptor: Int32) -> Int32? {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if count == 0 {
                return EIO
            } else if errno == EAGAIN {
                // Whoever shares the terminal or the pipe has set it so that it does not wait.
                var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                poll(&waiting, 1, -1)
            } else if errno != EINTR {
                return errno
            }
        }
        return nil
    }

    /// Ends the process by SIGPIPE, which the connection to the gateway ignores for itself.
    private static func endWithoutReader() -> Never {
        signal(SIGPIPE, SIG_DFL)
        raise(SIGPIPE)
        // A thread that holds the signal back gets here: the exit code that a shell shows for it.
        _exit(128 + SIGPIPE)
    }
}
