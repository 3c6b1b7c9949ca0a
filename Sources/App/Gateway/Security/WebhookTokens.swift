import COpenSSL
import Glibc
import Transport

/// The secrets with which devices report their own events, one for each device. A webhook token opens nothing else.
///
/// The file `webhook-tokens` holds a token and its device's identifier on each line. A token is made when a device's
/// webhook is first switched on. It stays when the webhook is switched off, so that the camera does not have to be set
/// up again.
public final class WebhookTokens: Sendable {
    /// The file in the state folder.
    public static let fileName = "webhook-tokens"
    /// The prefix of every webhook token.
    public static let prefix = TokenStore.prefix + "webhook_"

    /// When there are more tokens than this, the oldest of devices without a webhook are dropped, because cameras come
    /// and go.
    static let maximumCount = 2_000

    private struct Entry {
        let device: String
        let token: String
        let digest: [UInt8]
    }

    private struct State {
        var entries: [Entry] = []
        /// The devices whose webhook is on.
        var devices: Set<String> = []
    }

    private let state: Locked<State>

    /// Keeps these tokens, all of them in use.
    init(tokens: [(device: String, token: String)] = []) {
        self.state = Locked(
            State(
                entries: tokens.map {
                    Entry(device: $0.device, token: $0.token, digest: TokenStore.digest(of: $0.token))
                },
                devices: Set(tokens.map(\.device))))
    }

    /// Reads the tokens of a state folder, and makes the missing ones for devices with a webhook.
    public convenience init(
        openingOrCreatingIn directory: StateDirectory, devices: [String]
    ) throws(StateDirectory.Failure) {
        self.init(tokens: try Self.read(directory))
        try use(devices, in: directory)
    }

    /// Sets the devices with a webhook, for example after a change of the config.
    public func use(_ devices: [String], in directory: StateDirectory) throws(StateDirectory.Failure) {
        let known = state.withLock { state in
            state.devices = Set(devices)
            return state.entries.map { (device: $0.device, token: $0.token) }
        }
        let missing = devices.filter { device in !known.contains { $0.device == device } }
        guard !missing.isEmpty else { return }
        var all = known
        for device in missing {
            guard let token = TokenStore.makeToken(prefix: Self.prefix) else {
                throw .init(path: directory.path, reason: "the system's random source failed")
            }
            all.append((device, token))
        }
        var surplus = all.count - Self.maximumCount
        let inUse = Set(devices)
        all.removeAll { entry in
            guard surplus > 0, !inUse.contains(entry.device) else { return false }
            surplus -= 1
            return true
        }
        try directory.writePrivate(Self.fileName, all.map { "\($0.token) \($0.device)\n" }.joined())
        let entries = all.map {
            Entry(device: $0.device, token: $0.token, digest: TokenStore.digest(of: $0.token))
        }
        self.state.withLock { $0.entries = entries }
    }

    /// Removes the token of a device that is gone.
    func remove(_ device: String, in directory: StateDirectory) throws(StateDirectory.Failure) {
        let rest = state.withLock { state -> [Entry]? in
            guard state.entries.contains(where: { $0.device == device }) else { return nil }
            return state.entries.filter { $0.device != device }
        }
        guard let rest else { return }
        // A file without a token would be taken for a damaged one.
        if rest.isEmpty {
            guard unlink(directory.file(Self.fileName)) == 0 || errno == ENOENT else {
                throw .init(
                    path: directory.file(Self.fileName),
                    reason: "cannot be removed: \(String(cString: strerror(errno)))")
            }
        } else {
            try directory.writePrivate(Self.fileName, rest.map { "\($0.token) \($0.device)\n" }.joined())
        }
        state.withLock { state in
            state.entries = rest
            state.devices.remove(device)
        }
    }

    /// Whether a device has a token.
    func hasToken(_ device: String) -> Bool { state.withLock { $0.entries.contains { $0.device == device } } }

    /// A device's token in a state folder; nil if it has none.
    public static func token(of device: String, in directory: StateDirectory) throws(StateDirectory.Failure) -> String?
    {
        try read(directory).first { $0.device == device }?.token
    }

    private static func read(_ directory: StateDirectory) throws(StateDirectory.Failure) -> [(
        device: String, token: String
    )] {
        guard let text = try directory.readPrivate(Self.fileName) else { return [] }
        var tokens: [(device: String, token: String)] = []
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let fields = line.split(whereSeparator: \.isWhitespace)
            guard !fields.isEmpty else { continue }
            // A skipped line would be gone at the next writing, and its camera's button with it.
            guard fields.count == 2, fields[0].hasPrefix(Self.prefix), fields[0].utf8.count >= 32,
                fields[0].utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
                ConfigurationLoader.isIdentifier(String(fields[1]))
            else {
                throw .init(
                    path: directory.file(Self.fileName),
                    reason:
                        "line \(index + 1) must be a token followed by a device's id; correct the file, or remove it "
                        + "to make new tokens, which you then have to set in every camera with a webhook")
            }
            tokens.append((String(fields[1]), String(fields[0])))
        }
        guard !tokens.isEmpty else {
            throw .init(
                path: directory.file(Self.fileName),
                reason: "contains no token; restore the old content, or remove the file to make new tokens, which you "
                    + "then have to set in every camera with a webhook")
        }
        return tokens
    }

    /// The device that this token belongs to; nil for every other text. Takes the same time for every wrong one.
    func device(holding token: String) -> String? {
        let digest = TokenStore.digest(of: token)
        return state.withLock { state in
            var found: String?
            for entry in state.entries
            where CRYPTO_memcmp(entry.digest, digest, digest.count) == 0 && state.devices.contains(entry.device) {
                found = entry.device
            }
            return found
        }
    }

    /// All secrets, for the redactor.
    var secrets: [String] { state.withLock { $0.entries.map(\.token) } }
}
