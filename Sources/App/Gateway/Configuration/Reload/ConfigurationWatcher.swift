import Logging
import ServiceLifecycle
import UnixSignals

/// Checks twice a second whether a config file has changed, and reads it again on SIGHUP at once.
///
/// Two `stat` calls cost almost nothing. Unlike inotify, they catch every kind of change: editors that replace the
/// file, links that point elsewhere (Kubernetes), and network file systems.
struct ConfigurationWatcher: Service {
    let keeper: ConfigurationKeeper

    static let interval = Duration.milliseconds(500)

    func run() async throws {
        await cancelWhenGracefulShutdown {
            await withTaskGroup(of: Void.self) { group in
                group.addTask {
                    for await _ in await UnixSignalsSequence(trapping: .sighup) {
                        await keeper.reload(because: "SIGHUP")
                    }
                }
                group.addTask {
                    var seen: [FileStamp?] = []
                    while (try? await Task.sleep(for: Self.interval)) != nil {
                        if await look(&seen) { await keeper.reload(because: "a file has changed") }
                    }
                }
            }
        }
    }

    private func look(_ seen: inout [FileStamp?]) async -> Bool {
        let (hasChanged, now) = await keeper.lookAtFiles(seenBefore: seen)
        seen = now
        return hasChanged
    }
}
