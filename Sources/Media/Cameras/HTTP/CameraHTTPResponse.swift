import DatagramPort
import HTTPMedia
import Transport

/// A camera's answer while its content arrives: pictures, or a stream.
final class CameraHTTPResponse {
    let head: HTTPHead
    /// Where it came from, after redirections.
    var place: RequestPlace?
    let stream: StreamSocket
    let control: SourceControl
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

    /// Reads what has come of the content, waiting for it until `deadline`, and passes it to `body`.
    /// - Returns: whether more may come.
    func receiveContent(
        until deadline: Instant, _ body: (UnsafeRawBufferPointer) -> Void
    ) throws(CameraFailure) -> Bool {
        takeEarly(body)
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

    /// Whether the whole content has come.
    var isComplete: Bool { reader.isComplete }

    /// Reads what has arrived of the content without waiting, and passes it to `body`.
    /// - Parameter budget: how many bytes are read at most.
    /// - Returns: whether the connection is still open.
    func receiveArrived(
        upTo budget: Int, _ body: (UnsafeRawBufferPointer) -> Void
    ) throws(CameraFailure) -> Bool {
        takeEarly(body)
        var budget = budget
        while budget > 0, !reader.isComplete {
            switch buffer.withUnsafeMutableBytes({ stream.receive($0) }) {
            case .bytes(let count):
                budget -= count
                try parse(count, body)
            case .wouldBlock: return true
            case .closed:
                _ = reader.finish()
                return false
            case .failed(let number): throw .connectionBroken(errorNumber: number)
            }
        }
        return true
    }

    private func takeEarly(_ body: (UnsafeRawBufferPointer) -> Void) {
        guard !early.isEmpty else { return }
        early.withUnsafeBytes(body)
        early = []
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
