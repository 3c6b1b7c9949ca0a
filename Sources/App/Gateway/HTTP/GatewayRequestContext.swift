import Foundation
import Hummingbird
import Logging
import NIOCore

/// The context of one HTTP request.
struct GatewayRequestContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// The address at which the client reached the gateway, without port; nil if it is not an internet address.
    let localHost: String?
    /// The client's address, without port.
    let remoteHost: String?
    /// The connection that the request arrived on.
    let channel: any Channel
    /// Who sent the request. The authentication sets it; nil on the few public routes, for a device that reports its own
    /// events, and if the path itself is the permission.
    var authorization: Authorization?
    /// The caller's principal; nil where ``authorization`` is.
    var principal: String? { authorization?.principal }

    init(source: Source) {
        coreContext = .init(source: source)
        localHost = source.channel.localAddress?.ipAddress
        remoteHost = source.channel.remoteAddress?.ipAddress
        channel = source.channel
        authorization = nil
    }
}
