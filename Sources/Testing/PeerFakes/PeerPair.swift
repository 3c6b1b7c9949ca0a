import DTLS
import ICE
import PeerConnection
import Transport

/// The two identities of the tests, made once.
public enum Identities {
    public static let viewer = Result { try DTLSIdentity.generate() }
    public static let gateway = Result { try DTLSIdentity.generate() }
}

/// The two sides of a connection as an offer and its answer agree on it, without the descriptions.
public struct PeerPair {
    /// The side that offers: it controls, and is the DTLS client.
    public var offerer: PeerConnectionConfiguration
    /// The side that answers. It knows no candidate of the other one.
    public var answerer: PeerConnectionConfiguration

    /// Describes a connection between hosts with one address each.
    public init(
        from offering: TransportAddress, _ offeringCredentials: ICECredentials, to answering: TransportAddress,
        _ answeringCredentials: ICECredentials, offererIsDTLSClient: Bool = true
    ) throws {
        let (viewer, gateway) = (try Identities.viewer.get(), try Identities.gateway.get())
        offerer = PeerConnectionConfiguration(
            iceRole: .controlling, localCredentials: offeringCredentials, remoteCredentials: answeringCredentials,
            remoteIsLite: false, addresses: ICEAddresses(hosts: [offering]), remoteCandidates: [.host(answering)],
            dtlsRole: offererIsDTLSClient ? .client : .server, identity: viewer,
            remoteFingerprints: [gateway.fingerprint])
        answerer = PeerConnectionConfiguration(
            iceRole: .controlled, localCredentials: answeringCredentials, remoteCredentials: offeringCredentials,
            remoteIsLite: false, addresses: ICEAddresses(hosts: [answering]), remoteCandidates: [],
            dtlsRole: offererIsDTLSClient ? .server : .client, identity: gateway,
            remoteFingerprints: [viewer.fingerprint])
    }
}

extension RemoteCandidate {
    /// A host's only address.
    public static func host(_ address: TransportAddress) -> RemoteCandidate {
        RemoteCandidate(address: address, priority: ICE.candidatePriority(type: .host, localPreference: 65_535))
    }
}
