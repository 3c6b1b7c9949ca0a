import Foundation
import Hummingbird
import Logging
import NIOCore

/// What travels with one HTTP request.
struct GatewayRequestContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// The address at which the client reached the gateway, without port; nil when it is no internet address.
    let localHost: String?
    /// The client's address, without port.
    let remoteHost: String?
    /// The connection that the request came over.
    let channel: any Channel
    /// Who asks; set by the authentication, nil on the few public routes, and where the path itself is the permission.
    var principal: String?

    init(source: Source) {
        self.coreContext = .init(source: source)
        self.localHost = source.channel.localAddress?.ipAddress
        self.remoteHost = source.channel.remoteAddress?.ipAddress
        self.channel = source.channel
        self.principal = nil
    }
}
