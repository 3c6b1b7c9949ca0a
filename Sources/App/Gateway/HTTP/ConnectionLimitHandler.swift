import Logging
import NIOCore
import NIOHTTPTypes
import Transport

/// Counts a listener's connections by where they come from, so that nobody takes all that it holds.
final class ConnectionsByHost: Sendable {
    private struct State {
        var counts: [TransportAddress: Int] = [:]
        var refused: UInt64 = 0
        var told: NIODeadline?
    }

    /// How many connections one host may have. A reverse proxy on another machine shares one address among its clients.
    static let maximum = 128
    /// Who opens connections without end fills no log.
    private static let logInterval = TimeAmount.seconds(60)

    private let state = Locked(State())
    private let logger: Logger

    init(logger: Logger) {
        self.logger = logger
    }

    /// Whose a connection is; nil where it is not counted: from this machine, whose proxies speak for everybody.
    static func host(of address: SocketAddress?) -> TransportAddress? {
        guard let text = address?.ipAddress, let parsed = TransportAddress(text, port: 0), !parsed.isLoopback else {
            return nil
        }
        // The lower half of an IPv6 address belongs to whoever has the upper half (RFC 6177).
        return parsed.family == .ipv4 ? parsed : TransportAddress(ipv6High: parsed.high, low: 0, port: 0)
    }

    /// Counts one more connection of a host, unless it has as many as it may.
    func enter(_ host: TransportAddress, at now: NIODeadline) -> Bool {
        let (isAdmitted, refusedToTell) = self.state.withLock { state -> (Bool, UInt64?) in
            let count = state.counts[host, default: 0]
            if count < Self.maximum {
                state.counts[host] = count + 1
                return (true, nil)
            }
            state.refused += 1
            if let told = state.told, now - told < Self.logInterval { return (false, nil) }
            state.told = now
            return (false, state.refused)
        }
        if let refusedToTell {
            self.logger.warning(
                "connections of one host are refused, because it has \(Self.maximum)",
                metadata: ["address": "\(host.host)", "refused": "\(refusedToTell)"])
        }
        return isAdmitted
    }

    /// Counts one connection less.
    func leave(_ host: TransportAddress) {
        self.state.withLock { state in
            guard let count = state.counts[host] else { return }
            state.counts[host] = count > 1 ? count - 1 : nil
        }
    }
}

/// Closes a connection at once that is one too many of its host.
final class ConnectionLimitHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart

    private let connections: ConnectionsByHost
    /// The host for which this connection counts.
    private var host: TransportAddress?
    private var isRefused = false

    init(connections: ConnectionsByHost) {
        self.connections = connections
    }

    func handlerAdded(context: ChannelHandlerContext) {
        guard let host = ConnectionsByHost.host(of: context.remoteAddress) else { return }
        if self.connections.enter(host, at: context.eventLoop.now) {
            self.host = host
        } else {
            self.isRefused = true
            if context.channel.isActive { context.close(promise: nil) }
        }
    }

    func channelActive(context: ChannelHandlerContext) {
        // A channel that is still being set up cannot be closed before.
        if self.isRefused { return context.close(promise: nil) }
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.leave()
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.leave()
    }

    private func leave() {
        guard let host else { return }
        self.host = nil
        self.connections.leave(host)
    }
}
