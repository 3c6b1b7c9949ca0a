/// A description as plain values that any `Codable` encoder can write: what `gatehouse sdp parse --json` prints. It
/// shows what was understood, and the problems. It is not meant to be read back.
public struct SessionDescriptionDocument: Codable, Hashable, Sendable {
    /// One payload type.
    public struct Payload: Codable, Hashable, Sendable {
        public var payloadType: UInt8
        public var codec: String
        public var clockRate: Int
        public var channels: Int
        public var parameters: [String: String]
        /// In words, for H.264 with a profile that can be read.
        public var profile: String?
        public var feedback: [String]
    }

    /// One candidate.
    public struct Candidate: Codable, Hashable, Sendable {
        public var foundation: String
        public var component: UInt16
        public var transport: String
        public var priority: UInt32
        public var host: String
        public var port: UInt16
        public var type: String
        public var relatedHost: String?
        public var relatedPort: UInt16?
        public var tcpType: String?
        public var extensions: [String: String]
    }

    /// One header extension.
    public struct Extension: Codable, Hashable, Sendable {
        public var id: UInt8
        public var uri: String
        public var direction: MediaDirection?
    }

    /// One source with its attributes.
    public struct Source: Codable, Hashable, Sendable {
        public var ssrc: UInt32
        public var attributes: [String: String]
        public var retransmissions: UInt32?
    }

    /// ICE and DTLS of one level.
    public struct Transport: Codable, Hashable, Sendable {
        public var usernameFragment: String?
        public var password: String?
        public var iceOptions: [String]
        public var fingerprints: [String]
        public var setup: DTLSSetup?
        public var candidates: [Candidate]
        public var endOfCandidates: Bool
    }

    /// One media description.
    public struct Media: Codable, Hashable, Sendable {
        public var kind: MediaKind
        public var port: UInt16
        public var transportProtocol: String
        public var formats: [String]
        public var mid: String?
        public var direction: MediaDirection
        public var rejected: Bool
        public var bundleOnly: Bool
        public var rtcpMux: Bool
        public var reducedSizeRTCP: Bool
        public var connection: String?
        public var bandwidths: [Bandwidth]
        public var payloads: [Payload]
        public var headerExtensions: [Extension]
        public var sources: [Source]
        public var streams: [String]
        public var restrictionIdentifiers: [String]
        public var control: String?
        public var transport: Transport
    }

    public var origin: Origin?
    public var name: String?
    public var connection: String?
    public var groups: [MediaGroup]
    public var iceLite: Bool
    public var transport: Transport
    public var media: [Media]
    public var problems: [SessionDescription.Problem]

    /// Shows a description.
    public init(_ description: SessionDescription) {
        self.origin = description.origin
        self.name = description.name
        self.connection = description.connection?.address
        self.groups = description.groups
        self.iceLite = description.isICELite
        self.transport = Transport(description)
        self.media = description.media.indices.map { Media(description, index: $0) }
        self.problems = description.problems
    }
}

extension SessionDescriptionDocument.Transport {
    init(_ section: some DescriptionSection) {
        self.init(
            usernameFragment: section.iceUsernameFragment, password: section.icePassword,
            iceOptions: section.iceOptions, fingerprints: section.fingerprints.map(\.text), setup: section.setup,
            candidates: section.candidates.map(SessionDescriptionDocument.Candidate.init),
            endOfCandidates: section.hasEndOfCandidates)
    }
}

extension SessionDescriptionDocument.Candidate {
    init(_ candidate: ICECandidate) {
        self.init(
            foundation: candidate.foundation, component: candidate.component, transport: candidate.transport.name,
            priority: candidate.priority, host: candidate.host, port: candidate.port, type: candidate.kind.name,
            relatedHost: candidate.relatedAddress?.host, relatedPort: candidate.relatedAddress?.port,
            tcpType: candidate.tcpType,
            extensions: Dictionary(
                candidate.extensions.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first }))
    }
}

extension SessionDescriptionDocument.Media {
    init(_ description: SessionDescription, index: Int) {
        let section = description.media[index]
        let feedback = section.rtcpFeedback
        let pairs = section.retransmissionSources
        let attributes = Dictionary(grouping: section.sourceAttributes, by: \.ssrc)
        self.init(
            kind: section.kind, port: section.port, transportProtocol: section.transportProtocol,
            formats: section.formats, mid: section.mid, direction: description.direction(of: section),
            rejected: section.isRejected, bundleOnly: section.isBundleOnly, rtcpMux: section.hasRTCPMux,
            reducedSizeRTCP: section.hasReducedSizeRTCP, connection: section.connection?.address,
            bandwidths: section.bandwidths,
            payloads: description.payloads(ofMediaAt: index).map { payload in
                SessionDescriptionDocument.Payload(
                    payload,
                    feedback: feedback.filter { $0.payloadType ?? payload.payloadType == payload.payloadType }
                        .map(\.feedback))
            },
            headerExtensions: section.headerExtensions.map { .init(id: $0.id, uri: $0.uri, direction: $0.direction) },
            sources: section.sources.map { ssrc in
                .init(
                    ssrc: ssrc,
                    attributes: Dictionary(
                        (attributes[ssrc] ?? []).map { ($0.name, $0.value ?? "") },
                        uniquingKeysWith: { first, _ in first }),
                    retransmissions: pairs[ssrc])
            },
            streams: section.mediaStreams.map(\.text),
            restrictionIdentifiers: section.restrictionIdentifiers.map { "\($0.id) \($0.isSent ? "send" : "recv")" },
            control: section.control, transport: .init(section))
    }
}

extension SessionDescriptionDocument.Payload {
    init(_ payload: RTPPayload, feedback: [String]) {
        let codec = payload.codec
        self.init(
            payloadType: payload.payloadType, codec: codec.name, clockRate: codec.clockRate, channels: codec.channels,
            parameters: Dictionary(
                codec.formatParameters.parameters.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first }),
            profile: codec.isNamed("H264") ? H264Profile(codec.formatParameters)?.description : nil,
            feedback: feedback)
    }
}
