import MediaRelay
import Transport

/// What taps hand over on the relay's thread, until the server's thread takes it: one short lock a batch, and one
/// wake-up for all that comes before the server looks.
final class MediaInbox: Sendable {
    enum Event: Sendable {
        case batch(TappedBatch)
        case restarted
        case ended
    }

    struct Entry: Sendable {
        var tap: UInt64
        var event: Event
    }

    private struct State {
        var entries: [Entry] = []
        var wake: (@Sendable () -> Void)?
    }

    /// More than this waiting means that the server's thread has stopped; the relay must not fill the memory meanwhile.
    private static let maximumWaiting = 65_536

    private let state = Locked(State())

    /// Says how to wake the server's thread.
    func setWake(_ wake: @escaping @Sendable () -> Void) {
        state.withLock { $0.wake = wake }
    }

    func deliver(_ event: Event, from tap: UInt64) {
        let wake = state.withLock { state -> (@Sendable () -> Void)? in
            guard state.entries.count < Self.maximumWaiting else { return nil }
            state.entries.append(Entry(tap: tap, event: event))
            return state.entries.count == 1 ? state.wake : nil
        }
        wake?()
    }

    /// Takes everything out, into `entries`, whose storage the inbox uses from now on.
    func take(into entries: inout [Entry]) {
        entries.removeAll(keepingCapacity: true)
        state.withLock { swap(&$0.entries, &entries) }
    }
}

/// A reader's tap on one track.
final class ReaderTap: TrackTap {
    let id: UInt64
    private let inbox: MediaInbox

    init(id: UInt64, inbox: MediaInbox) {
        self.id = id
        self.inbox = inbox
    }

    func receive(_ batch: TappedBatch) { inbox.deliver(.batch(batch), from: id) }
    func trackRestarted() { inbox.deliver(.restarted, from: id) }
    func trackEnded() { inbox.deliver(.ended, from: id) }
}
