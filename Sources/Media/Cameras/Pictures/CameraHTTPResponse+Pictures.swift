import DatagramPort
import Glibc
import HTTPMedia
import Transport

extension CameraHTTPResponse {
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
    private static var readBudget: Int { 1 << 20 }

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
            let isOpen = try receiveArrived(upTo: Self.readBudget) { content in
                scanner.append(content) { newest = $0 }
            }
            if let newest { return .picture(newest) }
            guard isOpen, !isComplete else { return .ended }
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
}
