import DTLS
import ICE
import SRTP
import Transport

/// What a peer connection needs to know to connect: what offer and answer agreed on, and our own identity.
public struct PeerConnectionConfiguration: Sendable {
    /// Controlling for the side that offered (RFC 8445, section 6.1.1).
    public var iceRole: ICERole
    /// Our username fragment and password.
    public var localCredentials: ICECredentials
    /// The other side's username fragment and password.
    public var remoteCredentials: ICECredentials
    /// Whether the other side is an ICE lite agent.
    public var remoteIsLite: Bool
    /// Our addresses.
    public var addresses: ICEAddresses
    /// The other side's candidates; may be empty.
    public var remoteCandidates: [RemoteCandidate]
    /// Server for the side that is `passive` (RFC 5763, section 5).
    public var dtlsRole: DTLSEndpoint.Role
    /// Our certificate and key.
    public var identity: DTLSIdentity
    /// The fingerprints that the other side's certificate may have; one of them must match.
    public var remoteFingerprints: [DTLSFingerprint]

    /// Describes a connection.
    public init(
        iceRole: ICERole, localCredentials: ICECredentials, remoteCredentials: ICECredentials, remoteIsLite: Bool,
        addresses: ICEAddresses, remoteCandidates: [RemoteCandidate], dtlsRole: DTLSEndpoint.Role,
        identity: DTLSIdentity, remoteFingerprints: [DTLSFingerprint]
    ) {
        self.iceRole = iceRole
        self.localCredentials = localCredentials
        self.remoteCredentials = remoteCredentials
        self.remoteIsLite = remoteIsLite
        self.addresses = addresses
        self.remoteCandidates = remoteCandidates
        self.dtlsRole = dtlsRole
        self.identity = identity
        self.remoteFingerprints = remoteFingerprints
    }

    /// Whether the other side has no candidates besides ``remoteCandidates``.
    public var remoteCandidatesAreComplete = false
    /// The intervals of the connectivity checks.
    public var timing = ICETiming()
    /// Where checks may go.
    public var reach = ICEReach()
    /// The first byte of the transaction identifiers of our checks; nil for a random one.
    public var transactionMark: UInt8?
    /// How a controlling side nominates a pair; aggressive saves a round trip where the peer allows it.
    public var nomination: ICENomination = .aggressive
    /// The SRTP profiles that this side supports, the preferred one first; the DTLS server's order decides.
    public var profiles: [SRTPProfile] = [.aeadAES128GCM, .aes128CMHMACSHA1_80]
    /// Whether offer and answer agreed on media. Without it, the peer need not support SRTP.
    public var carriesMedia = true
    /// Whether offer and answer agreed on data channels. Otherwise data is refused.
    public var carriesData = false
}
