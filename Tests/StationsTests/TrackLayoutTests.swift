import Cameras
import MediaRelay
import SDP
import Testing

@testable import Stations

@Suite struct TrackLayoutTests {
    private static func track(_ kind: MediaKind, _ codec: MediaCodec, _ stream: CameraStream) -> TrackDescription {
        var track = TrackDescription(kind: kind, codec: codec, payloadType: 96)
        track.stream = stream
        return track
    }

    private static let picture = track(.video, .h264(profileLevelID: "42e01f"), .main)
    private static let sound = track(.audio, .pcmu, .main)
    private static let smallPicture = track(.video, .h264(profileLevelID: "42e01f"), .sub)

    private static func names(_ tracks: TrackDescription...) -> [String] {
        TrackLayout(camera: "door", tracks: tracks, transcodesVideo: .automatic).tracks.map { "\($0.id)" }
    }

    @Test func `a track is named by its stream, its number there and whether the gateway makes it`() {
        #expect(
            Self.names(Self.picture, Self.sound, Self.smallPicture) == [
                "door-main-0", "door-main-1", "door-sub-0", "door-main-0-derived", "door-main-1-derived",
                "door-sub-0-derived",
            ])
    }

    @Test func `a change of the main stream does not rename the tracks of the smaller one`() {
        let names = Self.names(Self.picture, Self.smallPicture)
        #expect(names == ["door-main-0", "door-sub-0", "door-main-0-derived", "door-sub-0-derived"])
        #expect(Self.names(Self.smallPicture) == ["door-sub-0", "door-sub-0-derived"])
    }

    @Test func `a derived track knows what it is made from`() {
        let layout = TrackLayout(camera: "door", tracks: [Self.picture, Self.sound], transcodesVideo: .automatic)
        let own = layout.tracks.filter { $0.derivedFrom == nil }.map(\.id)
        #expect(layout.tracks.compactMap(\.derivedFrom) == own)
        #expect(own.map(\.derived) == layout.tracks.dropFirst(2).map(\.id))
        #expect(layout.tracks.map(\.id.kind) == [.video, .audio, .video, .audio])
    }

    @Test func `tracks sort by camera, then its own before derived ones, then by stream and number`() {
        let sorted = [
            TrackID(camera: "a", index: 0), TrackID(camera: "a", kind: .audio, index: 1),
            TrackID(camera: "a", stream: .sub, index: 0),
            TrackID(camera: "a", index: 0, isDerived: true),
            TrackID(camera: "a", stream: .sub, index: 0, isDerived: true), TrackID(camera: "b", index: 0),
        ]
        #expect(sorted.reversed().sorted() == sorted)
    }
}
