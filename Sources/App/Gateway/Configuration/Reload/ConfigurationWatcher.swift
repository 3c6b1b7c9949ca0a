import Logging
import ServiceLifecycle
import UnixSignals

/// Looks twice a second whether a config file has changed, and reads it again on SIGHUP at once.
///
/// Two `stat` calls are nothing, and unlike inotify they see every way in which files change: editors that put a new
/// file in the place of the old one, links that are turned (Kubernetes), and network file systems.
struct ConfigurationWatcher: Service {
    let keeper: ConfigurationKeeper

    static let interval = Duration.milliseconds(500)

    func run() async throws {
        await cancelWhenGracefulShutdown {
            await withTaskGroup(of: Void.self) { group in
                group.addTask {
                    for await _ in await UnixSignalsSequence(trapping: .sighup) {
                        await self.keeper.reload(because: "SIGHUP")
                    }
                }
                group.addTask {
                    var seen: [FileStamp?] = []
                    while (try? await Task.sleep(for: Self.interval)) != nil {
                        if await self.look(&seen) { await self.keeper.reload(because: "a file has changed") }
                    }
                }
            }
        }
    }

    private func look(_ seen: inout [FileStamp?]) async -> Bool {
        let (hasChanged, now) = await self.keeper.lookAtFiles(seenBefore: seen)
        seen = now
        return hasChanged
    }
}
