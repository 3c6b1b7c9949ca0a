import HomeHub
import Logging
import ServiceLifecycle

/// Gives the service manager its signs of life, and says that the gateway stops.
///
/// Each sign follows an answer of the hub, so that a gateway whose hub hangs is started again.
struct ServiceWatchdog: Service {
    let notifier: ServiceNotifier
    let logger: Logger
    /// Returns when the gateway works.
    let check: @Sendable () async -> Void

    func run() async throws {
        await cancelWhenGracefulShutdown {
            guard let interval = notifier.watchdogInterval else {
                // It still waits, because it has something to say at the end.
                try? await Task.sleep(for: .seconds(365 * 86_400))
                return
            }
            repeat {
                await check()
                report("WATCHDOG=1")
            } while (try? await Task.sleep(for: interval / 2)) != nil
        }
        report("STOPPING=1")
    }

    private func report(_ line: String) {
        do {
            try notifier.send(line)
        } catch {
            logger.warning(
                "the service manager cannot be reached", metadata: ["line": "\(line)", "reason": "\(error)"])
        }
    }
}

extension ServiceWatchdog: DescribedByName {}

extension GatewayService {
    /// The watchdog, nil where no service manager has started the gateway.
    var watchdog: ServiceWatchdog? {
        notifier.map { notifier in
            ServiceWatchdog(notifier: notifier, logger: logger) { [hub] in _ = await hub.watcherCount }
        }
    }

    /// Says that the gateway is ready, and where its page is.
    func reportReady(_ listening: GatewayConfiguration, cameras: Int) {
        guard let notifier else { return }
        let addresses = PageAddresses(listening)
        let page = addresses.others.first ?? addresses.own.first ?? ""
        do {
            try notifier.send("READY=1", "STATUS=\(cameras) \(cameras == 1 ? "camera" : "cameras"), page at \(page)")
        } catch {
            logger.error(
                "the gateway cannot notify the service manager that it is ready", metadata: ["reason": "\(error)"])
        }
    }
}
