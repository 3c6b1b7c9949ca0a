/// What a principal may do, and with which objects. It travels inside ``Caller``.
///
/// Scopes do not include one another: a token that may control a lamp does not see its history unless it may read too. The
/// one exception is `media`, which includes `view`.
public struct Access: Sendable, Codable, Hashable {
    /// Scopes for one part of the home.
    public struct Grant: Sendable, Codable, Hashable {
        /// What is permitted there.
        public var scopes: Set<Caller.Scope>
        /// The structure with everything in it; nil where a device is named, or for the whole home.
        public var structureID: String?
        /// The device; nil for a structure, or for the whole home.
        public var deviceID: String?

        /// Permits something in a structure, on a device or, without either, in the whole home.
        public init(_ scopes: Set<Caller.Scope>, structureID: String? = nil, deviceID: String? = nil) {
            self.scopes = scopes
            self.structureID = structureID
            self.deviceID = deviceID
        }

        private enum CodingKeys: String, CodingKey {
            case scopes, structureID, deviceID
        }

        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            scopes = Set(try container.decode([Caller.Scope].self, forKey: .scopes))
            structureID = try container.decodeIfPresent(String.self, forKey: .structureID)
            deviceID = try container.decodeIfPresent(String.self, forKey: .deviceID)
        }

        /// The scopes are written in the order of their declaration, so that equal grants have equal JSON.
        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(Caller.Scope.allCases.filter(scopes.contains), forKey: .scopes)
            try container.encodeIfPresent(structureID, forKey: .structureID)
            try container.encodeIfPresent(deviceID, forKey: .deviceID)
        }
    }

    /// What somebody wants to do something with.
    public enum Object: Sendable, Hashable {
        /// The gateway and everything that has no other place.
        case home
        case structure(String)
        /// A device, and the structure that it is in.
        case device(String, structureID: String?)
    }

    /// The parts of the home that are open, each with its scopes.
    public var grants: [Grant]

    /// Permits what the grants say.
    public init(_ grants: [Grant]) {
        self.grants = grants
    }

    /// Every scope in the whole home.
    public static let everything = Access([Grant(Set(Caller.Scope.allCases))])
    /// Nothing at all.
    public static let nothing = Access([])

    /// The scopes for an object: those of the home, of its structure and of itself.
    public func scopes(for object: Object) -> Set<Caller.Scope> {
        grants.reduce(into: []) { scopes, grant in
            if grant.covers(object) { scopes.formUnion(grant.included) }
        }
    }

    /// Whether a scope is granted for an object.
    public func permits(_ scope: Caller.Scope, _ object: Object) -> Bool {
        grants.contains { $0.included.contains(scope) && $0.covers(object) }
    }

    /// Whether a scope is granted for everything there is.
    public func permitsInWholeHome(_ scope: Caller.Scope) -> Bool {
        grants.contains { $0.included.contains(scope) && $0.structureID == nil && $0.deviceID == nil }
    }

    /// Whether it permits watching cameras and nothing else. Such a token may be part of an address.
    public var isViewingOnly: Bool {
        !grants.isEmpty && grants.allSatisfy { $0.scopes == [.view] }
    }

    /// Whether it permits cameras' media and nothing else. Such a token may be part of a publisher's address, because
    /// programs that publish by RTSP or RTMP take nothing else.
    public var isMediaOnly: Bool {
        !grants.isEmpty && grants.allSatisfy { !$0.scopes.isEmpty && $0.scopes.isSubset(of: [.media, .view]) }
    }

    /// Whether the principal may know that the object exists.
    public func sees(_ object: Object) -> Bool {
        grants.contains { !$0.scopes.isEmpty && $0.covers(object) }
    }

    /// Whether everything that `other` permits is permitted here as well. Nobody grants more than they have.
    /// - Parameter structureOf: the structure of a device.
    public func includes(_ other: Access, structureOf: (String) -> String?) -> Bool {
        other.grants.allSatisfy { $0.scopes.isSubset(of: scopes(for: $0.object(structureOf))) }
    }
}

extension Access.Grant {
    /// The scopes with what they include.
    var included: Set<Caller.Scope> { scopes.contains(.media) ? scopes.union([.view]) : scopes }

    /// Whether the object lies in the part of the home that the grant opens.
    func covers(_ object: Access.Object) -> Bool {
        if let deviceID {
            guard case .device(let id, _) = object else { return false }
            return id == deviceID
        }
        guard let structureID else { return true }
        switch object {
        case .home: return false
        case .structure(let id): return id == structureID
        case .device(_, let id): return id == structureID
        }
    }
}

extension Caller.Scope {
    /// The scopes that a command needs, all of them. Commands of cameras' media have their own, and those that only watch
    /// need less. A command that says where footage goes needs the scope of footage as well.
    /// - Parameters:
    ///   - command: the command's name.
    ///   - trait: the name of its trait.
    public static func needed(for command: String, of trait: String) -> [Self] {
        switch trait {
        case "WebRtcLiveView": [viewingCommands.contains(command) ? .view : .media]
        case "CameraSnapshot": [.media]
        case "PushAvStreamTransport", "Matter.PushAvStreamTransport":
            sendingCommands.contains(command) ? [.control, .media] : [.control]
        default: [.control]
        }
    }

    /// The commands of `WebRtcLiveView` that only watch.
    private static let viewingCommands: Set<String> = [
        "startLiveView", "extendLiveView", "stopLiveView", "changeLiveViewQuality",
    ]

    /// The commands of `PushAvStreamTransport` that set what is recorded and the server to which it is uploaded.
    private static let sendingCommands: Set<String> = ["allocatePushTransport", "modifyPushTransport"]
}
