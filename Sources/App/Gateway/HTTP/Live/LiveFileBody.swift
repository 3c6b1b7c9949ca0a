import NIOCore
import PushAvStreamTransport

/// A live stream as one file without an end. When the camera changes what it sends, the file ends.
struct LiveFileBody: Sendable {
    /// An empty box (ISO/IEC 14496-12, section 8.1.2). Players skip it between two fragments.
    static let emptyBox: [UInt8] = [0, 0, 0, 8] + Array("free".utf8)

    let description: LiveDescription
    let subscription: LiveSubscription
    /// The time from one look at whether something has come to the next.
    var pause = Duration.seconds(5)

    /// Writes the file until it ends, or until a write fails. While nothing comes, it writes empty boxes: a client that has
    /// left is noticed only by a write, and keeps its place until then. The first write after that may still succeed.
    func send(_ write: (ByteBuffer) async throws -> Void) async throws {
        let looks = Task { [subscription, pause] in
            while (try? await Task.sleep(for: pause)) != nil { subscription.reportSilence() }
        }
        defer { looks.cancel() }
        try await write(ByteBuffer(bytes: description.header))
        while let event = try await subscription.next() {
            switch event {
            case .began: return
            case .chunks(let chunks):
                for chunk in chunks {
                    try subscription.check()
                    try await write(ByteBuffer(bytes: chunk.bytes))
                }
            case .silence: try await write(ByteBuffer(bytes: Self.emptyBox))
            }
        }
    }
}
