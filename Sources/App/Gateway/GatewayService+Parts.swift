import DatagramPort
import HomeHub
import Hummingbird
import Logging
import NIOCore
import ServiceLifecycle

/// Counts listeners, and calls back when the last one is open.
actor Readiness {
    private var remaining: Int
    /// By scheme.
    private var ports: [String: Int] = [:]
    private let whenReady: @Sendable ([String: Int]) async -> Void

    init(expected: Int, whenReady: @escaping @Sendable ([String: Int]) async -> Void) {
        self.remaining = expected
        self.whenReady = whenReady
    }

    func oneIsReady(scheme: String, port: Int) async {
        ports[scheme] = port
        remaining -= 1
        if remaining == 0 { await whenReady(ports) }
    }
}

extension GatewayConfiguration {
    /// This config with the ports that the listeners really have.
    func listening(on ports: [String: Int]) -> GatewayConfiguration {
        var listening = self
        if let port = ports["http"] { listening.http.port = port }
        if let port = ports["https"] { listening.http.https?.port = port }
        return listening
    }
}

/// One listener. If it fails to open, the error names the keys of the config.
struct Listener<Responder: HTTPResponder>: Service
where Responder.Context: InitializableFromSource<ApplicationRequestContextSource> {
    let application: Application<Responder>
    /// The key of its port.
    let key: String
    /// The key of its address.
    let hostKey: String
    let address: String

    func run() async throws {
        do {
            try await application.run()
        } catch let error as IOError {
            throw GatewayService.StartFailure.listening(on: address, key: key, hostKey: hostKey, code: error.errnoCode)
        }
    }
}

/// Keeps the home in step with its cameras.
struct HomeFollower: Service {
    let hub: HomeHub

    func run() async throws {
        await cancelWhenGracefulShutdown {
            await hub.run()
            // Without cameras, or when all have ended, the service still lives as long as the gateway.
            try? await Task.sleep(for: .seconds(365 * 86_400))
        }
    }
}

/// Deletes kept pictures when their time is over, in a home too that keeps no more of them.
struct PicturePruner: Service {
    let pictures: KeptPictures

    func run() async throws {
        await cancelWhenGracefulShutdown {
            repeat { await pictures.prune() } while (try? await Task.sleep(for: .seconds(3_600))) != nil
        }
    }
}

/// The work of about once a second: heartbeats, tokens whose time is over and what is left of them, and log lines about
/// connections.
struct Ticker: Service {
    let hub: HomeHub
    let tokens: TokenRegistry
    let reporter: ConnectionReporter
    var push: PushService?

    static let heartbeatSeconds: UInt64 = 15

    func run() async throws {
        await cancelWhenGracefulShutdown {
            var tick: UInt64 = 0
            var (reporter, memory) = (self.reporter, MemoryReturn())
            while (try? await Task.sleep(for: .seconds(1))) != nil {
                tick &+= 1
                await handle(tick)
                reporter.report(at: tick)
                let connections = reporter.shared.connections.counts.connections
                if memory.isDue(connections: connections, at: tick) { MemoryReturn.perform() }
            }
        }
        await hub.finishChanges()
    }

    func handle(_ tick: UInt64) async {
        if tick.isMultiple(of: Self.heartbeatSeconds) { await hub.sendHeartbeat() }
        await tokens.endExpired()
        if tick.isMultiple(of: 60) {
            await tokens.removeEnded()
            await push?.endRightless()
        }
    }
}

/// Ends the bridge to the MQTT broker when the gateway stops, so that others on the broker learn that it leaves.
struct MQTTEnder: Service {
    let mqtt: MQTTRunner

    func run() async throws {
        try? await gracefulShutdown()
        await mqtt.stop()
    }
}

/// Ends all sessions when the gateway stops, so that viewers see an end and not a frozen picture.
struct SessionEnder: Service {
    let hub: HomeHub
    let logger: Logger

    func run() async throws {
        try? await gracefulShutdown()
        let ended = await hub.endAllSessions()
        logger.notice("gateway has stopped", metadata: ["endedSessions": "\(ended)"])
    }
}
