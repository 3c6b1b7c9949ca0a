import Transport

/// The texts that must never reach a log. Cameras come and go while the gateway runs, so the list grows. A text that
/// was secret once stays so.
public final class SecretList: Sendable {
    private let texts: Locked<[String]>

    /// Short texts are ignored, because they would garble words.
    public init(_ secrets: [String] = []) {
        self.texts = Locked([])
        add(secrets)
    }

    /// Adds secrets.
    public func add(_ secrets: [String]) {
        texts.withLock { texts in
            for secret in secrets where secret.utf8.count >= 8 && !texts.contains(secret) { texts.append(secret) }
        }
    }

    /// All secrets.
    var all: [String] { texts.withLock { $0 } }
}
