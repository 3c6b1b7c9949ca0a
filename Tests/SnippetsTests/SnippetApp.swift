import GoogleHomeSDK
import GoogleHomeTypes

/// An app with the names that the snippets of the documents use.
@MainActor class SnippetApp {
    let home: Home
    var device: HomeDevice
    var myDeviceId: String { device.id }
    var cancellable: AnyCancellable?
    var fanDeviceType: FanDeviceType?
    /// What the snippets have found, by the name of the snippet. The lines that write it are the tests', not the
    /// documents'.
    var found: [String: [String]] = [:]
    private var waiting:
        (isOver: ([String]) -> Bool, snippet: String, continuation: CheckedContinuation<Void, any Error>)?

    init(home: Home, device: HomeDevice) {
        self.home = home
        self.device = device
    }

    /// Records what a snippet found.
    func find(_ snippet: String, _ value: Any?) {
        found[snippet, default: []].append(value.map { "\($0)" } ?? "nil")
        guard let waiting, waiting.isOver(found[waiting.snippet, default: []]) else { return }
        self.waiting = nil
        waiting.continuation.resume()
    }

    /// Waits until a snippet has found this much.
    func wait(for count: Int, of snippet: String) async throws -> [String] {
        try await wait(of: snippet) { $0.count >= count }
    }

    /// Waits until a snippet has found this last.
    func wait(until value: String, of snippet: String) async throws {
        _ = try await wait(of: snippet) { $0.last == value }
    }

    /// Waits until the test's time limit cancels it.
    private func wait(of snippet: String, until isOver: @escaping ([String]) -> Bool) async throws -> [String] {
        if !isOver(found[snippet, default: []]) {
            try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { waiting = (isOver, snippet, $0) }
            } onCancel: {
                Task { @MainActor in self.giveUp() }
            }
        }
        return found[snippet, default: []]
    }

    private func giveUp() {
        guard let waiting else { return }
        self.waiting = nil
        waiting.continuation.resume(
            throwing: Missing(snippet: waiting.snippet, found: found[waiting.snippet, default: []]))
    }

    /// What a snippet should find did not come.
    struct Missing: Error, CustomStringConvertible {
        var snippet: String
        var found: [String]
        var description: String { "\(snippet) found only \(found) before the time was over" }
    }

    func updateTileInfo() { find("O8", fanDeviceType?.matterTraits.onOffTrait?.onOff) }
}

/// The apps' own log.
enum Logger {
    static func debug(_ text: String) {}
    static func info(_ text: String) {}
    static func error(_ text: String) {}
}
