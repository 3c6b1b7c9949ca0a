import DatagramPort
import Glibc
import HTTPMedia
import ONVIF
import Transport

/// A camera's answer while its pictures arrive.
final class PictureResponse {
    /// Why ``receive(until:_:)`` returned.
    enum Step {
        /// A picture has come.
        case picture([UInt8])
        /// The answer is complete, or the camera has closed the connection.
        case ended
        /// The time is over.
        case timedOut
        /// The owner has a request.
        case woken
    }

    /// How many bytes one wake-up may read before the newest picture is handed out.
    private static let readBudget = 1 << 20

    let head: HTTPHead
    /// Where it came from, after redirections.
    var address: HTTPAddress?
    private let stream: StreamSocket
    private let control: SourceControl
    private var reader: HTTPStreamReader
    /// Content that came together with the head.
    private var early: [UInt8]
    private var buffer = [UInt8](repeating: 0, count: 32 * 1024)

    /// Reads the head of an answer.
    init(over stream: StreamSocket, until deadline: Instant, control: SourceControl) throws(CameraFailure) {
        var reader = HTTPStreamReader()
        var early: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while reader.head == nil {
            let outcome: CameraSocket.Outcome
            do throws(CameraUnreachable) {
                outcome = try stream.receive(&buffer, until: deadline, control: control, for: "the camera's answer")
            } catch {
                throw .unreachable(error)
            }
            switch outcome {
            case .bytes(let count):
                do throws(HTTPStreamError) {
                    try buffer.withUnsafeBufferPointer { bytes throws(HTTPStreamError) in
                        try reader.append(UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: bytes[..<count]))) {
                            early += $0
                        }
                    }
                } catch {
                    throw .pictures(.answer(error))
                }
            case .wouldBlock: break
            case .closed: throw .connectionClosed
            case .failed(let number): throw .connectionBroken(errorNumber: number)
            }
        }
        guard let head = reader.head else { throw .connectionClosed }
        (self.head, self.stream, self.control, self.reader, self.early) = (head, stream, control, reader, early)
    }

    /// Whether one answer holds a series of pictures. Otherwise each has to be requested.
    var isSeries: Bool { head.contentType?.hasPrefix("multipart/") ?? false }

    /// What the answer holds, where that cannot be pictures.
    var otherType: String? {
        guard let type = head.contentType else { return nil }
        return type.hasPrefix("text/") || type.hasPrefix("application/json") || type.hasPrefix("audio/") ? type : nil
    }

    /// Reads until a picture has come. Of several that have come at once, the newest counts: a source that is late
    /// catches up.
    func receive(until deadline: Instant, _ scanner: inout JPEGStreamScanner) throws(CameraFailure) -> Step {
        while true {
            var newest: [UInt8]?
            let isOpen = try read(&scanner, &newest)
            if let newest { return .picture(newest) }
            guard isOpen, !reader.isComplete else { return .ended }
            let left = deadline - MonotonicClock.now
            if left <= .zero { return .timedOut }
            let events = Int16(stream.hasPendingOutput ? POLLIN | POLLOUT : POLLIN)
            var waiting = [
                pollfd(fd: stream.descriptor, events: events, revents: 0),
                pollfd(fd: control.wakeUp, events: Int16(POLLIN), revents: 0),
            ]
            _ = poll(&waiting, 2, pollTimeout(left))
            if waiting[1].revents != 0 { return .woken }
        }
    }

    /// Reads what has come of the content, waiting for it until `deadline`, and passes it to `body`.
    /// - Returns: whether more may come.
    func receiveContent(
        until deadline: Instant, _ body: (UnsafeRawBufferPointer) -> Void
    ) throws(CameraFailure) -> Bool {
        if !early.isEmpty {
            early.withUnsafeBytes(body)
            early = []
        }
        guard !reader.isComplete else { return false }
        let outcome: CameraSocket.Outcome
        do throws(CameraUnreachable) {
            outcome = try stream.receive(&buffer, until: deadline, control: control, for: "the camera's stream")
        } catch {
            throw .unreachable(error)
        }
        switch outcome {
        case .bytes(let count):
            try parse(count, body)
            return !reader.isComplete
        case .wouldBlock: return true
        case .closed:
            guard reader.finish() else { throw .connectionClosed }
            return false
        case .failed(let number): throw .connectionBroken(errorNumber: number)
        }
    }

    /// Reads what has arrived. Returns whether the connection is still open.
    private func read(_ scanner: inout JPEGStreamScanner, _ newest: inout [UInt8]?) throws(CameraFailure) -> Bool {
        if !early.isEmpty {
            early.withUnsafeBytes { bytes in scanner.append(bytes) { newest = $0 } }
            early = []
        }
        var budget = Self.readBudget
        while budget > 0, !reader.isComplete {
            switch buffer.withUnsafeMutableBytes({ stream.receive($0) }) {
            case .bytes(let count):
                budget -= count
                try parse(count) { content in scanner.append(content) { newest = $0 } }
            case .wouldBlock: return true
            case .closed:
                _ = reader.finish()
                return false
            case .failed(let number): throw .connectionBroken(errorNumber: number)
            }
        }
        return true
    }

    private func parse(_ count: Int, _ body: (UnsafeRawBufferPointer) -> Void) throws(CameraFailure) {
        do throws(HTTPStreamError) {
            try buffer.withUnsafeBufferPointer { bytes throws(HTTPStreamError) in
                try reader.append(UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: bytes[..<count])), body)
            }
        } catch {
            throw .pictures(.answer(error))
        }
    }
}
