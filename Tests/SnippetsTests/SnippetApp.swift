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
    private var waiting: (count: Int, snippet: String, continuation: CheckedContinuation<Void, Never>)?

    init(home: Home, device: HomeDevice) {
        self.home = home
        self.device = device
    }

    /// Records what a snippet found.
    func find(_ snippet: String, _ value: Any?) {
        found[snippet, default: []].append(value.map { "\($0)" } ?? "nil")
        guard let waiting, found[waiting.snippet, default: []].count >= waiting.count else { return }
        self.waiting = nil
        waiting.continuation.resume()
    }

    /// Waits until a snippet has found this much.
    func wait(for count: Int, of snippet: String) async -> [String] {
        if found[snippet, default: []].count < count {
            await withCheckedContinuation { waiting = (count, snippet, $0) }
        }
        return found[snippet, default: []]
    }

    func updateTileInfo() { find("O8", fanDeviceType?.matterTraits.onOffTrait?.onOff) }
}

/// The apps' own log.
enum Logger {
    static func debug(_ text: String) {}
    static func info(_ text: String) {}
    static func error(_ text: String) {}
}
