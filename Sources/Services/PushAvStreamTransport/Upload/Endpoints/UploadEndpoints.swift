import Transport

/// Why endpoints cannot be changed.
public enum UploadEndpointError: Error, Equatable, Sendable {
    /// What was given is wrong: which part, and what it has to be.
    case invalid(String)
    /// No endpoint has this name.
    case unknown(String)
    /// It is in use by a connection, or footage waits for it.
    case inUse(String)
    /// There are as many as there can be.
    case tooMany
    /// The change could not be stored, so it was not made.
    case storage(UploadStorageFailure)
}

/// Who uses endpoints: connections name them, and footage waits for them.
public protocol UploadEndpointUsers: Sendable {
    /// Whether a connection names this id, or footage waits for it, whether there is such an endpoint or not. It asks the
    /// endpoints nothing.
    func uses(_ endpoint: UInt16) -> Bool
    /// Gives an endpoint up unless it is in use. From then on nobody can begin to use it.
    /// - Returns: whether it can be deleted.
    func giveUp(_ endpoint: UInt16) -> Bool
    /// The endpoint was not deleted after all.
    func takeBack(_ endpoint: UInt16)
}

/// Nobody uses endpoints.
public struct NoUploadEndpointUsers: UploadEndpointUsers {
    /// Makes it.
    public init() {}

    public func uses(_ endpoint: UInt16) -> Bool { false }
    public func giveUp(_ endpoint: UInt16) -> Bool { true }
    public func takeBack(_ endpoint: UInt16) {}
}

/// The endpoints that recordings can be uploaded to, with their certificates, keys and credentials. They are in one file
/// that only its owner can read. A file that cannot be used is kept, and does not keep the gateway from recording: see
/// ``loss``.
public final class UploadEndpoints: Sendable {
    /// The file in the state folder.
    public static let fileName = "upload-endpoints.json"
    /// The most endpoints.
    public static let maximumCount = 100

    /// Which file with endpoints cannot be used, why, and what the owner can do; nil when every endpoint is known. An
    /// endpoint that is not known may be in that file: what names it waits.
    public let loss: UploadStorageFailure?

    private let file: UploadEndpointsFile
    /// Whether a file that cannot be used is in the way of a new one.
    private let isInTheWay: Bool
    private let state: Locked<UploadEndpointsFile.Contents>
    private let users: any UploadEndpointUsers

    /// Reads the endpoints of a state folder. A file that is damaged or of a newer version is renamed, and one that cannot
    /// be read or renamed stays as it is; ``loss`` says so.
    public init(stateFolder: String, users: any UploadEndpointUsers = NoUploadEndpointUsers()) {
        file = UploadEndpointsFile(path: "\(stateFolder)/\(Self.fileName)")
        self.users = users
        let opened = file.open()
        loss = opened.loss
        isInTheWay = opened.isInTheWay
        state = Locked(opened.contents)
    }

    /// All endpoints without their secrets, by id.
    public var summaries: [UploadEndpointSummary] { state.withLock { $0.endpoints.map(\.summary) } }

    /// The texts of all endpoints that must never reach a log.
    public var secrets: [String] { state.withLock { $0.endpoints.flatMap(\.secrets) } }

    /// An endpoint with its secrets; nil when there is none with this id. 0 is the local store and has none.
    public func endpoint(_ id: UInt16) -> UploadEndpoint? {
        state.withLock { $0.endpoints.first { $0.id == id } }
    }

    /// Whether a connection may name this id. 0 is the local store.
    public func isProvisioned(_ id: UInt16) -> Bool { id == 0 || endpoint(id) != nil }

    /// The endpoint with this name, without its secrets.
    public func summary(named name: String) throws(UploadEndpointError) -> UploadEndpointSummary {
        guard let endpoint = state.withLock({ $0.endpoints.first { $0.name == name } }) else { throw .unknown(name) }
        return endpoint.summary
    }

    /// Makes an endpoint, or replaces the one with this name, which keeps its id.
    /// - Parameter willKeep: called once the endpoint is known to be sound, and before anything can use it. It must not
    ///   use the endpoints.
    /// - Returns: its description, and whether it is new.
    @discardableResult
    public func put(
        name: String, kind: UploadEndpoint.Kind, rootCertificates: String?, willKeep: () -> Void = {}
    ) throws(UploadEndpointError) -> (summary: UploadEndpointSummary, isNew: Bool) {
        if let problem = Self.problem(name: name, kind, rootCertificates) { throw .invalid(problem) }
        return try state.withLock { (state) throws(UploadEndpointError) in
            var changed = state
            let position = changed.endpoints.firstIndex { $0.name == name }
            let id = position.map { changed.endpoints[$0].id } ?? newID(in: changed)
            let endpoint = UploadEndpoint(id: id, name: name, kind: kind, rootCertificates: rootCertificates)
            if let position {
                changed.endpoints[position] = endpoint
            } else {
                // 65535 is not an endpoint's id (Matter, PushAVStreamTransport).
                guard changed.endpoints.count < Self.maximumCount, id < .max else { throw .tooMany }
                changed.nextID = id + 1
                changed.endpoints.append(endpoint)
            }
            willKeep()
            try write(changed)
            state = changed
            return (endpoint.summary, position == nil)
        }
    }

    /// Deletes an endpoint.
    public func delete(name: String) throws(UploadEndpointError) {
        let id = try summary(named: name).id
        // Outside of the lock, because the answer may need the endpoints.
        guard users.giveUp(id) else { throw .inUse(name) }
        do throws(UploadEndpointError) {
            try state.withLock { (state) throws(UploadEndpointError) in
                var changed = state
                changed.endpoints.removeAll { $0.id == id }
                try write(changed)
                state = changed
            }
        } catch {
            users.takeBack(id)
            throw error
        }
    }

    /// An id that no endpoint has, and nobody names: the file may be an older copy that the owner has put back.
    private func newID(in contents: UploadEndpointsFile.Contents) -> UInt16 {
        let greatest = contents.endpoints.map(\.id).max() ?? 0
        var id = max(1, contents.nextID, greatest < .max ? greatest + 1 : .max)
        while id < .max, users.uses(id) { id += 1 }
        return id
    }

    private func write(_ contents: UploadEndpointsFile.Contents) throws(UploadEndpointError) {
        if isInTheWay, let loss { throw .storage(loss) }
        do throws(UploadStorageFailure) {
            try file.write(contents)
        } catch {
            throw .storage(error)
        }
    }

    /// What is wrong with an endpoint; nil when nothing is.
    static func problem(name: String, _ kind: UploadEndpoint.Kind, _ rootCertificates: String?) -> String? {
        guard isName(name) else {
            return "an endpoint's name has 1 to 64 letters, digits, '-', '_' and '.', and begins with a letter or digit"
        }
        if let rootCertificates,
            let problem = PEMMaterial.problem(certificates: rootCertificates, name: "rootCertificates")
        {
            return problem
        }
        switch kind {
        case .tls(nil, nil): return nil
        case .tls(.some(let chain), .some(let key)): return PEMMaterial.problem(chain: chain, privateKey: key)
        case .tls: return "clientCertificate and privateKey belong together: give both or none"
        case .s3(let credentials, let region):
            guard isToken(region) else { return "region must be a word, for example eu-central-1" }
            guard isToken(credentials.accessKeyID) else {
                return "accessKeyId must have 1 to 128 characters without spaces"
            }
            guard isPrintable(credentials.secretAccessKey) else {
                return "secretAccessKey must have 1 to 4096 printable characters"
            }
            if let token = credentials.sessionToken, !isPrintable(token) {
                return "sessionToken must have 1 to 4096 printable characters"
            }
            return nil
        }
    }

    private static func isName(_ name: String) -> Bool {
        guard (1...64).contains(name.utf8.count), let first = name.utf8.first, isLetterOrDigit(first) else {
            return false
        }
        return name.utf8.allSatisfy { isLetterOrDigit($0) || [0x2D, 0x2E, 0x5F].contains($0) }
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: false
        }
    }

    /// A word of the `Authorization` header, where spaces, commas and slashes separate.
    private static func isToken(_ text: String) -> Bool {
        (1...128).contains(text.utf8.count)
            && text.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != 0x2C && $0 != 0x2F && $0 != 0x3D }
    }

    private static func isPrintable(_ text: String) -> Bool {
        (1...4_096).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }
}
