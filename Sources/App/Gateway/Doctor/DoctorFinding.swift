/// One thing that the doctor has looked at: what it found, and what to do about it.
public struct DoctorFinding: Codable, Sendable, Equatable {
    /// What was looked at.
    public enum Subject: String, Codable, Sendable, CaseIterable {
        /// Where the page and the API can be reached.
        case page
        /// The certificate of HTTPS.
        case certificate
        /// The UDP port of all live views.
        case mediaPort
        /// The address at which a STUN server sees the media port.
        case outsideAddress
        /// Whether the router forwards the media port, or the TCP port of media.
        case portMapping
        /// The server that relays for the gateway.
        case turnServer
        /// The gateway's name in the local network.
        case localName
        /// How the router translates addresses.
        case translation
        /// The servers that viewers are given.
        case viewerServers
        /// The config file, and the file of the API's cameras.
        case configuration
        /// A camera.
        case camera
        /// The machine's clock.
        case clock
        /// The disk of the state folder.
        case disk
    }

    /// How it is.
    public enum State: String, Codable, Sendable, CaseIterable {
        /// Nothing to do.
        case good
        /// Something that may be as it should be.
        case note
        /// Something works less well than it could.
        case warning
        /// Something does not work.
        case failure
    }

    /// What was looked at.
    public var subject: Subject
    /// How it is.
    public var state: State
    /// The camera, by its name; nil for everything else.
    public var device: String?
    /// What was found, for people.
    public var message: String
    /// What to do about it; nil where there is nothing to do.
    public var advice: String?

    /// Describes a finding.
    public init(
        _ subject: Subject, _ state: State, _ message: String, device: String? = nil, advice: String? = nil
    ) {
        self.subject = subject
        self.state = state
        self.device = device
        self.message = message
        self.advice = advice
    }
}

/// The answer of the doctor.
public struct DoctorReport: Codable, Sendable, Equatable {
    /// What was found, in the order in which a packet meets it.
    public var findings: [DoctorFinding]

    /// Collects findings.
    public init(findings: [DoctorFinding]) { self.findings = findings }

    /// Whether nothing failed.
    public var isHealthy: Bool { !findings.contains { $0.state == .failure } }
}
