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

    private static func choose(_ stream: ONVIFSource.Stream, _ profiles: [(String, Int)]) -> String {
        do throws(ONVIFError) {
            return try stream.choose(among: ranked(profiles)).token
        } catch {
            return error.description
        }
    }

    @Test func theBestIsWhatBrowsersPlayBest() {
        #expect(Self.choose(.best, [("H265", 3840), ("H264", 640), ("H264", 1280)]) == "H264-1280")
        #expect(Self.choose(.best, [("JPEG", 640), ("H265", 1920)]) == "H265-1920")
        #expect(Self.choose(.best, []).contains("no profile with video"))
    }

    @Test func theMainStreamIsTheLargestAndTheSubstreamWhatBrowsersPlayBest() {
        let modern = [("H265", 3840), ("H264", 640), ("JPEG", 320)]
        #expect(Self.choose(.main, modern) == "H265-3840" && Self.choose(.sub, modern) == "H264-640")
        let three = [("H264", 1920), ("H264", 1280), ("H264", 640)]
        #expect(Self.choose(.main, three) == "H264-1920" && Self.choose(.sub, three) == "H264-640")
        let equal = [("H265", 1920), ("H264", 1920)]
        #expect(Self.choose(.main, equal) == "H264-1920" && Self.choose(.sub, equal) == "H265-1920")
    }

    @Test func aCameraWithoutASecondVideoStreamHasNoSubstream() {
        #expect(Self.choose(.sub, [("H264", 1920)]).contains("no second profile"))
        #expect(Self.choose(.sub, [("H264", 1920), ("JPEG", 640)]).contains("no second profile"))
    }
}
