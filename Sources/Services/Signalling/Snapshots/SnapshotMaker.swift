import Cameras
import Codecs
import DatagramPort
import MediaRelay
import RTP
import SDP
import Transport

/// Makes pictures of one camera from what the relay's ring holds: nobody waits for a key frame, and the camera sends
/// nothing more for it. Whoever asks while a picture is being made, or shortly after, gets the same one.
actor SnapshotMaker {
    /// A picture that has been decoded, or came as an image.
    struct Picture: Sendable {
        var frame: I420Frame
        /// The image as the camera sent it; nil where it sends video.
        var jpeg: [UInt8]?
        var capture: Instant
        /// How long decoding took.
        var work = Duration.zero
    }

    /// How long a picture is shared at least and at most, with those who ask after it has been made.
    static let sharing = Duration.milliseconds(100)...Duration.seconds(1)
    /// So many times the work that a picture has cost: whoever asks all the time costs a quarter of a core at most, and
    /// who asks now and then gets the newest picture.
    private static let rest = 3
    private static let quality = 80

    private let timeout: Duration
    private var newest: (picture: Picture, sharedUntil: Instant)?
    private var images: [Int: CameraSnapshot] = [:]
    private var making: Task<Result<Picture, SignallingError>, Never>?

    /// - Parameter timeout: how long to wait for a camera that has to be pulled first.
    init(timeout: Duration) {
        self.timeout = timeout
    }

    /// The newest picture, at most `maximumWidth` pixels across.
    func snapshot(
        of station: CameraStation, maximumWidth: Int?
    ) async throws(SignallingError) -> CameraSnapshot {
        let picture = try await picture(of: station)
        let width = min(maximumWidth.map { max($0, 16) } ?? .max, picture.frame.width)
        if var image = images[width] {
            image.age = MonotonicClock.now - picture.capture
            return image
        }
        let image = try await onWorkerThread { () -> Result<CameraSnapshot, SignallingError> in
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
                return .failure(.internalFault("the picture could not be made a JPEG image: \(error.reason)"))
            }
        }.get()
        if let newest, newest.picture.capture == picture.capture { images[width] = image }
        return image
    }

    private func picture(of station: CameraStation) async throws(SignallingError) -> Picture {
        if let newest, MonotonicClock.now < newest.sharedUntil { return newest.picture }
        if let making { return try await making.value.get() }
        let timeout = timeout
        let task = Task { await Self.take(from: station, within: timeout) }
        making = task
        let result = await task.value
        making = nil
        images = [:]
        newest = nil
        let picture = try result.get()
        let time = min(max(picture.work * Self.rest, Self.sharing.lowerBound), Self.sharing.upperBound)
        newest = (picture, MonotonicClock.now + time)
        return picture
    }

    /// Takes the ring's content and decodes it.
    private static func take(
        from station: CameraStation, within timeout: Duration
    ) async -> Result<Picture, SignallingError> {
        // The camera is pulled for as long as it takes.
        let pull = station.acquire(reason: "snapshot")
        defer { pull.release() }
        _ = await station.tracks(within: timeout)
        let videos = station.sourceTracks.filter { $0.description.kind == .video }
        guard let track = videos.first(where: { $0.description.stream == .main }) ?? videos.first else {
            let state = station.snapshot.state
            return .failure(
                state == .flowing
                    ? .failedPrecondition("\(station.id) sends no video, so there is no picture of it")
                    : .cameraUnavailable("\(station.id) is not delivering: \(state.words)"))
        }
        let tap = SnapshotTap()
        station.relay.addTap(tap, to: track.id)
        let timer = Task {
            // A cancelled sleep means that the picture has come.
            try? await Task.sleep(for: timeout)
            tap.finish()
        }
        await tap.wait()
        timer.cancel()
        // The relay hands the ring's content over in one go: once the tap is off, all of it has come.
        await withCheckedContinuation { continuation in
            station.relay.removeTap(tap, from: track.id) { continuation.resume() }
        }
        guard let batches = tap.batches else {
            let state = station.snapshot.state
            return .failure(
                state == .flowing
                    ? .deadlineExceeded("\(station.id) has sent no key frame for \(Int(timeout.inSeconds)) s")
                    : .cameraUnavailable("\(station.id) is not delivering: \(state.words)"))
        }
        let codec = track.description.codec
        return await onWorkerThread { decode(batches, codec) }
    }

    private static func decode(_ batches: [TappedBatch], _ codec: MediaCodec) -> Result<Picture, SignallingError> {
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
                .internalFault(
                    "the camera's \(codec.name) could not be decoded: \(reader.lastFailure?.reason ?? "no picture came out")"
                ))
        } catch {
            return .failure(.failedPrecondition("there is no picture of \(codec.name): \(error.reason)"))
        }
    }
}

/// Runs `body` on a thread of its own: decoding takes longer than the threads that all tasks share may be kept.
func onWorkerThread<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { continuation in
        // Without a thread left it is done here and now, which is slow and still right.
        if !startDetachedThread({ continuation.resume(returning: body()) }) { continuation.resume(returning: body()) }
    }
}
