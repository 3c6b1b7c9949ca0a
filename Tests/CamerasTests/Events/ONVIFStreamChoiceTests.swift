import ONVIF
import Testing

@testable import Cameras

@Suite struct ONVIFStreamChoiceTests {
    /// Profiles of a codec and a width, in the order in which a camera lists them.
    private static func ranked(_ profiles: [(String, Int)]) -> [MediaProfile] {
        MediaProfile.ranked(
            profiles.map { encoding, width in
                MediaProfile(
                    token: "\(encoding)-\(width)", name: "", videoEncoding: encoding, width: width,
                    height: width * 9 / 16)
            })
    }

    private static func choose(_ stream: ONVIFSource.Stream, _ profiles: [(String, Int)]) -> String? {
        try? stream.choose(among: ranked(profiles)).token
    }

    private static func refusal(_ stream: ONVIFSource.Stream, _ profiles: [(String, Int)]) -> ONVIFError? {
        do throws(ONVIFError) {
            _ = try stream.choose(among: ranked(profiles))
            return nil
        } catch {
            return error
        }
    }

    @Test func theBestIsWhatBrowsersPlayBest() {
        #expect(Self.choose(.best, [("H265", 3840), ("H264", 640), ("H264", 1280)]) == "H264-1280")
        #expect(Self.choose(.best, [("JPEG", 640), ("H265", 1920)]) == "H265-1920")
        #expect(Self.refusal(.best, []) == .unsupported(.videoProfile))
    }

    @Test func theMainStreamIsTheLargestAndTheSubstreamWhatBrowsersPlayBest() {
        let modern = [("H265", 3840), ("H264", 640), ("JPEG", 320)]
        #expect(Self.choose(.main, modern) == "H265-3840" && Self.choose(.sub, modern) == "H264-640")
        let three = [("H264", 1920), ("H264", 1280), ("H264", 640)]
        #expect(Self.choose(.main, three) == "H264-1920" && Self.choose(.sub, three) == "H264-640")
        let equal = [("H265", 1920), ("H264", 1920), ("H265", 640)]
        #expect(Self.choose(.main, equal) == "H264-1920" && Self.choose(.sub, equal) == "H265-640")
    }

    @Test func aSeriesOfImagesIsTheMainStreamOnlyIfThereIsNothingElse() {
        let snapshots = [("JPEG", 1920), ("H264", 1280), ("H264", 640)]
        #expect(Self.choose(.main, snapshots) == "H264-1280" && Self.choose(.sub, snapshots) == "H264-640")
        #expect(Self.choose(.main, [("JPEG", 640), ("JPEG", 1920)]) == "JPEG-1920")
    }

    @Test func bothStreamsShowTheSamePicture() throws {
        func profile(_ token: String, _ width: Int, lens: String?) -> MediaProfile {
            MediaProfile(
                token: token, name: "", videoEncoding: "H264", width: width, height: width, videoSource: lens)
        }
        let recorder = [
            profile("door", 1920, lens: "1"), profile("yard", 1280, lens: "2"), profile("yard-small", 320, lens: "2"),
            profile("door-small", 640, lens: "1"),
        ]
        let main = try ONVIFSource.Stream.main.choose(among: MediaProfile.ranked(recorder))
        let sub = try ONVIFSource.Stream.sub.choose(among: MediaProfile.ranked(recorder))
        #expect(main.token == "door" && sub.token == "door-small")
        // Nobody says that these belong to different lenses.
        let silent = [profile("large", 1920, lens: nil), profile("small", 640, lens: "1")]
        #expect(try ONVIFSource.Stream.sub.choose(among: MediaProfile.ranked(silent)).token == "small")
    }

    @Test func aCameraThatStatesNoSizesHasTwoStreamsAllTheSame() {
        #expect(Self.choose(.sub, [("H265", 0), ("H264", 0)]) == "H265-0")
    }

    @Test func aCameraWithoutASecondVideoStreamHasNoSubstream() {
        #expect(Self.refusal(.sub, [("H264", 1920)]) == .noSecondProfile)
        #expect(Self.refusal(.sub, [("H264", 1920), ("JPEG", 640)]) == .noSecondProfile)
        #expect(Self.refusal(.sub, [("H265", 1920), ("H264", 1920)]) == .noSecondProfile)
    }
}
