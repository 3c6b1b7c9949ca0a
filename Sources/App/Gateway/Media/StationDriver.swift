import Cameras
import HomeHub
import HomeTypes
import SDP
import Signalling

/// The home's view of a camera station.
struct StationDriver: CameraDriver {
    let station: CameraStation

    var deviceID: String { station.id }

    var hasSpeaker: Bool { station.source.speaker != nil }

    func updates() -> AsyncStream<CameraUpdate> {
        // The home needs the newest state only; a hundred are more than a camera makes while the hub looks away.
        let (stream, continuation) = AsyncStream.makeStream(
            of: CameraUpdate.self, bufferingPolicy: .bufferingNewest(100))
        continuation.yield(.source(CameraSourceStatus(station.snapshot)))
        station.observe { event in
            switch event {
            case .state, .tracks: continuation.yield(.source(CameraSourceStatus(station.snapshot)))
            case .buttonPressed: continuation.yield(.doorbellPressed(.init()))
            case .senderReport: break
            }
        }
        return stream
    }

    func press() async throws(HomeError) {
        guard let camera = station.source as? BuiltInCamera else {
            throw HomeError.unimplemented("the button of \(deviceID) can only be pressed at the door")
        }
        guard camera.press() else {
            throw HomeError.failedPrecondition("\(deviceID) has no button that can be pressed now")
        }
    }

    var speakerReading: SpeakerReading? {
        guard let measurement = (station.source as? BuiltInCamera)?.builtInSpeaker.measurement else { return nil }
        return SpeakerReading(
            samples: measurement.samples, rootMeanSquare: measurement.rootMeanSquare,
            dominantFrequency: measurement.dominantTone)
    }
}

extension CameraSourceStatus {
    init(_ snapshot: CameraStation.Snapshot) {
        let tracks = snapshot.tracks.map { CameraTrack(kind: $0.kind.name, codec: $0.codec.name) }
        switch snapshot.state {
        case .idle: self.init(state: .idle, tracks: tracks)
        case .resolving: self.init(state: .resolving, tracks: tracks)
        case .connecting: self.init(state: .connecting, tracks: tracks)
        case .authenticating: self.init(state: .authenticating, tracks: tracks)
        case .describing: self.init(state: .describing, tracks: tracks)
        case .settingUp, .playing: self.init(state: .settingUp, tracks: tracks)
        case .flowing: self.init(state: .flowing, tracks: tracks)
        case .stalled(let track):
            self.init(state: .stalled, reason: "track \(track) has brought nothing for a while", tracks: tracks)
        case .backingOff(let seconds, let reason):
            self.init(
                state: .backingOff, reason: "\(reason); the next try is in \(Int(seconds.rounded(.up))) s",
                tracks: tracks)
        case .stopped: self.init(state: .stopped, tracks: tracks)
        }
    }
}
