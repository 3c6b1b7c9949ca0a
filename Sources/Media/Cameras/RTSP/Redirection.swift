import RTSP
import Transport

/// Decides where a camera may redirect the gateway.
///
/// A redirection is followed to other hosts and ports, as load balancers and recorders need it. It is not followed to
/// the gateway's own host or to link-local addresses. These have services that others must not reach: those of the host
/// itself, and the metadata service of cloud hosts. A camera that was configured at such an address may redirect to
/// others of the same kind. ``AddressReach`` is the rule; playlists have a stricter one (``RequestPlace``).
enum Redirection {
    /// The target's addresses that the gateway may connect to; all of them unless the target is a redirection.
    ///
    /// - Parameters:
    ///   - list: the resolved addresses of the target's host.
    ///   - target: the redirection's target.
    ///   - origin: the address of the config.
    ///   - home: where the camera was reached at `origin`.
    static func followed(
        _ list: [TransportAddress], to target: RTSPURL, from origin: RTSPURL, at home: TransportAddress?
    ) -> [TransportAddress] {
        guard target.host != origin.host else { return list }
        // A recorder may be on this machine, or in the home while its load balancer is not.
        let reach = (home.map { AddressReach(of: $0) } ?? []).union([.privateNetworks, .thisMachine])
        return list.filter(reach.allows)
    }

    static func withheldReason(_ target: String) -> String {
        "the camera redirects to \(target), which asks for a password. The one of the config is for the configured "
            + "address alone and is not sent there. If the camera is there, write that address into the config"
    }
}
