import Cameras
import Codecs
import DatagramPort
import MediaRelay
import RTP
import SDP
import Transport

/// Makes pictures of one camera from what the relay's ring holds: nobody waits for a key frame, and the camera sends
/// nothing more for it. All requests while a picture is being made, or shortly after, get the same one.
actor SnapshotMaker {
    /// A picture that has been decoded, or that arrived as an image.
    struct Picture: Sendable {
        var frame: I420Frame
        /// The image as the camera sent it; nil if it sends video.
        var jpeg: [UInt8]?
        var capture: Instant
        /// How long decoding took.
        var work = Duration.zero
    }

    /// How long a picture is shared, at least and at most, with requests that come after it was made.
    static let sharing = Duration.milliseconds(100)...Duration.seconds(1)
    /// A picture is shared for this many times the work that it cost. So a client that asks all the time costs at most
    /// a quarter of a core, and one that asks now and then gets the newest picture.
    private static let rest = 3
    private static let quality = 80
    /// Pictures of this many widths are kept until the next picture; other widths are made again.
    private static let maximumImages = 16
    /// The bytes of all of them.
    private static let maximumBytes = 8 << 20

    /// Why there is no picture.
    private enum Failure: Error {
        /// Video arrived, and none of it could be decoded.
        case damaged(PictureDamage, work: Duration)
        case other(StationError)
    }

    private let timeout: Duration
    /// While the video is damaged, the last good picture is returned if it is no older than this.
    private let longestAge: Duration
    private var newest: (picture: Picture, sharedUntil: Instant)?
    private var images: [Int: CameraSnapshot] = [:]
    private var making: Task<Result<Picture, StationError>, Never>?
    /// The refusal for everybody who asks again too soon: a decoding that fails costs as much as one that succeeds.
    private var refusal: (error: StationError, until: Instant)?
    private var isDamaged = false
    private var news: SnapshotNews?
    /// Ends the wait of what is being made.
    private var ending = Ending()
    /// How often everything was forgotten. What was begun before is not kept.
    private var generation = 0

    /// - Parameters:
    ///   - timeout: how long to wait for a camera that has to be pulled first.
    ///   - longestAge: how old a picture may be while video is damaged.
    init(timeout: Duration, longestAge: Duration) {
        self.longestAge = longestAge
        self.timeout = timeout
    }

    /// The newest picture, at most `maximumWidth` pixels across.
    func snapshot(
        of station: CameraStation, maximumWidth: Int?
    ) async throws(StationError) -> CameraSnapshot {
        let picture = try await picture(of: station)
        let width = min(maximumWidth.map { max($0, 16) } ?? .max, picture.frame.width)
        if var image = images[width] {
            image.age = MonotonicClock.now - picture.capture
            return image
        }
        await ImageWork.shared.begin()
        defer { ImageWork.shared.end() }
        // An earlier waiter may have made the same one.
        if var image = images[width], newest?.picture.capture == picture.capture {
            image.age = MonotonicClock.now - picture.capture
            return image
        }
        let image = try await onWorkerThread { () -> Result<CameraSnapshot, StationError> in
            do throws(CodecError) {
                let age = MonotonicClock.now - picture.capture
                if width == picture.frame.width, let jpeg = picture.jpeg {
                    return .success(
                        CameraSnapshot(
                            jpeg: jpeg, age: age, width: picture.frame.width, height: picture.frame.height))
                }
                let frame = picture.frame.fitting(width)
                return .success(
                    CameraSnapshot(
                        jpeg: try JPEGEncoder.encode(frame, quality: Self.quality), age: age, width: frame.width,
                        height: frame.height))
            } catch {
                return .failure(.pictureNotEncoded(error))
            }
        }.get()
        let size = images.values.reduce(image.jpeg.count) { $0 + $1.jpeg.count }
        if let newest, newest.picture.capture == picture.capture, images.count < Self.maximumImages,
            size <= Self.maximumBytes
        {
            images[width] = image
        }
        return image
    }

    /// What has changed since the last look; each change is returned once.
    func takeNews() -> SnapshotNews? {
        defer { news = nil }
        return news
    }

    /// Nobody is to see the pictures of before.
    func forget() {
        generation += 1
        newest = nil
        images = [:]
        making = nil
        refusal = nil
        ending.end()
    }

    private func picture(of station: CameraStation) async throws(StationError) -> Picture {
        let now = MonotonicClock.now
        if let newest, now < newest.sharedUntil { return newest.picture }
        if let refusal, now < refusal.until { throw refusal.error }
        if let making { return try await making.value.get() }
        let (timeout, generation) = (timeout, generation)
        let ending = Ending()
        self.ending = ending
        let task = Task {
            let taken = await Self.take(from: station, within: timeout, ending)
            return settle(taken, camera: station.id, generation)
        }
        making = task
        return try await task.value.get()
    }

    /// Records the outcome of making a picture.
    private func settle(
        _ taken: Result<Picture, Failure>, camera: String, _ generation: Int
    ) -> Result<Picture, StationError> {
        guard generation == self.generation else {
            return .failure(.switchedOffMeanwhile(camera: camera))
        }
        making = nil
        refusal = nil
        let now = MonotonicClock.now
        func pause(after work: Duration) -> Duration {
            min(max(work * Self.rest, Self.sharing.lowerBound), Self.sharing.upperBound)
        }
        switch taken {
        case .success(let picture):
            images = [:]
            newest = (picture, now + pause(after: picture.work))
            if isDamaged { news = .recovered }
            isDamaged = false
            return .success(picture)
        case .failure(.damaged(let damage, let work)):
            if !isDamaged { news = .damaged(damage) }
            isDamaged = true
            let until = now + pause(after: work)
            if let last = newest?.picture, now - last.capture <= longestAge {
                newest = (last, until)
                return .success(last)
            }
            newest = nil
            images = [:]
            let error = StationError.damagedVideo(camera: camera, damage, recent: longestAge)
            refusal = (error, until)
            return .failure(error)
        case .failure(.other(let error)):
            return .failure(error)
        }
    }

    /// Reads the ring's content and decodes it.
    private static func take(
        from station: CameraStation, within timeout: Duration, _ ending: Ending
    ) async -> Result<Picture, Failure> {
        // The camera is pulled for as long as this takes.
        let hold = station.hold(for: .snapshot)
        defer { hold.end() }
        _ = await station.tracks(within: timeout)
        let videos = station.sourceTracks.filter { $0.description.kind == .video }
        guard let track = videos.first(where: { $0.description.stream == .main }) ?? videos.first else {
            let state = station.snapshot.state
            return .failure(
                .other(state == .flowing ? .noVideo(camera: station.id) : .noMedia(camera: station.id, state)))
        }
        var feed = SnapshotFeed()
        let (tap, finish) = (feed.tap, feed.finish)
        ending.setAction(finish)
        station.relay.addTap(tap, to: track.id, from: .newestKeyFrame)
        let timer = Task {
            // A cancelled sleep means that the picture has arrived.
            try? await Task.sleep(for: timeout)
            finish()
        }
        await feed.wait()
        timer.cancel()
        // The relay hands over the ring's content in one call: once the tap is removed, all of it has arrived.
        await withCheckedContinuation { continuation in
            station.relay.removeTap(tap, from: track.id) { continuation.resume() }
        }
        guard let batches = feed.takeBatches() else {
            let state = station.snapshot.state
            return .failure(
                .other(
                    state == .flowing
                        ? .noKeyFrame(camera: station.id, within: timeout) : .noMedia(camera: station.id, state)))
        }
        let codec = track.description.codec
        return await onWorkerThread { decode(batches, codec) }
    }

    private static func decode(_ batches: [TappedBatch], _ codec: MediaCodec) -> Result<Picture, Failure> {
        let start = MonotonicClock.now
        do throws(CodecError) {
            var reader = try PictureReader(codec: codec)
            var newest: Picture?
            for batch in batches {
                reader.read(batch) {
                    newest = Picture(frame: $0.frame, jpeg: $0.jpeg, capture: $0.capture)
                }
            }
            reader.finish {
                newest = Picture(frame: $0.frame, jpeg: $0.jpeg, capture: $0.capture)
            }
            if var newest {
                newest.work = MonotonicClock.now - start
                return .success(newest)
            }
            return .failure(
                .damaged(
                    PictureDamage(codec: codec.name, error: reader.lastFailure), work: MonotonicClock.now - start))
        } catch {
            return .failure(.other(.unreadableVideo(codec: codec.name, error)))
        }
    }
}

/// Ends a wait that has begun, or that begins later.
private final class Ending: Sendable {
    private let state = Locked<(action: (@Sendable () -> Void)?, isOver: Bool)>((nil, false))

    func setAction(_ action: @escaping @Sendable () -> Void) {
        let isOver = state.withLock { state in
            state.action = action
            return state.isOver
        }
        if isOver { action() }
    }

    func end() {
        state.withLock { state in
            state.isOver = true
            return state.action.take()
        }?()
    }
}

/// Runs `body` on a separate thread: decoding would occupy the threads that all tasks share for too long.
func onWorkerThread<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { continuation in
        // If no thread can be started, the work is done here, which is slow but correct.
        if !startDetachedThread(name: "snapshot", { continuation.resume(returning: body()) }) {
            continuation.resume(returning: body())
        }
    }
}
