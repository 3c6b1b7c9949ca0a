import DatagramPort
import MediaRelay
import RTP
import Transport

/// What taps hand over on the relay's thread, until the server's thread reads it: one short lock per batch, and one
/// wake-up for everything that arrives before the server looks.
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

    /// What was dropped because the server's thread did not read it in time.
    struct Drops: Sendable, Equatable {
        var packets: UInt64 = 0
        var bytes: UInt64 = 0
    }

    private struct State {
        var entries: [Entry] = []
        /// When the oldest waiting batch was delivered.
        var oldest: Instant?
        /// The memory that the batches hold. A batch goes to each reader of a track in turn, and counts once.
        var byteCount = 0
        var newest: PacketBatch?
        /// Something has been dropped since the server last looked, so what follows is dropped too: one gap costs a
        /// reader less than many.
        var isFull = false
        /// The taps whose batches have been dropped since the server last looked.
        var cut: Set<UInt64> = []
        var drops = Drops()
        var wake: (@Sendable () -> Void)?

        /// Whether there is room for a batch. Counts it, or counts it as dropped.
        mutating func accept(_ batch: PacketBatch, at now: Instant) -> Bool {
            let isShared = newest === batch
            let size = isShared ? 0 : batch.footprint
            if let oldest, now - oldest > MediaInbox.maximumLag || byteCount + size > MediaInbox.maximumBytes {
                isFull = true
            }
            guard !isFull else {
                drops.packets += UInt64(batch.packets.count)
                drops.bytes += UInt64(batch.payloadByteCount)
                return false
            }
            if oldest == nil { oldest = now }
            byteCount += size
            newest = batch
            return true
        }
    }

    /// If more than this waits, the server's thread has stopped, and the relay must not fill the memory meanwhile. A
    /// reader that is so far behind has lost frames long before (``RTSPServerConfiguration/maximumLag``).
    static let maximumLag = Duration.seconds(5)
    /// Four full rings: readers begin with what their track's ring holds.
    static let maximumBytes = 64 << 20

    private let state = Locked(State())

    /// Sets how to wake the server's thread.
    func setWake(_ wake: @escaping @Sendable () -> Void) {
        state.withLock { $0.wake = wake }
    }

    /// Adds an event of a tap. Batches are bounded in time and bytes; the restart or the end of a track is always kept.
    func deliver(_ event: Event, from tap: UInt64, at now: Instant = MonotonicClock.now) {
        let wake = state.withLock { state -> (@Sendable () -> Void)? in
            if case .batch(let tapped) = event, !state.accept(tapped.batch, at: now) {
                state.cut.insert(tap)
                return nil
            }
            state.entries.append(Entry(tap: tap, event: event))
            return state.entries.count == 1 ? state.wake : nil
        }
        wake?()
    }

    /// Moves everything into `entries`, whose storage the inbox uses from now on. Returns the taps whose last batches
    /// were dropped: what they bring next cannot be shown without a key frame.
    func take(into entries: inout [Entry]) -> Set<UInt64> {
        entries.removeAll(keepingCapacity: true)
        return state.withLock { state in
            swap(&state.entries, &entries)
            state.oldest = nil
            state.byteCount = 0
            state.newest = nil
            state.isFull = false
            defer { if !state.cut.isEmpty { state.cut = [] } }
            return state.cut
        }
    }

    /// What has been dropped so far.
    var drops: Drops { state.withLock { $0.drops } }
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
