import Cameras
import SDP
import Stations

extension OfferRefusal {
    /// Why the offer is not answered, with the line where that helps to find the fault.
    public var words: String {
        if case .invalid(let error) = reason { "\(error)" } else { reason.words }
    }
}

extension OfferRefusal.Reason {
    /// Why the offer is not answered, without the line.
    public var words: String {
        switch self {
        case .invalid(let error), .noCommonCodec(let error): error.reason
        case .noPlayableVideo(let mismatch): mismatch.words
        case .asksForNothing(let camera, let media):
            "the offer asks for neither picture nor sound from \(camera): "
                + media.map(\.words).joined(separator: "; ")
                + "; a viewer must offer a=recvonly or a=sendrecv"
        case .playsNothing(let camera, let media, let faults):
            "this viewer can play nothing from \(camera): "
                + (media.map(\.words) + faults.map(\.words)).joined(separator: "; ")
        case .sendsNothing: "the offer sends nothing; a publisher must offer a=sendonly or a=sendrecv"
        }
    }
}

extension UnservedMedia {
    /// The media description and the reason.
    public var words: String {
        switch self {
        case .noted(let note): note.description
        case .onlySends(let media): "\(media.label) only sends (a=sendonly)"
        case .inactive(let media): "\(media.label) is disabled (a=inactive)"
        case .noPlayableCodec(let media): "\(media.label): the viewer plays none of the camera's codecs"
        }
    }
}

extension VideoMismatch {
    /// What both sides have, and what would help.
    public var words: String {
        let ours = sent.map { track in
            track.codec.summary + (track.reordersPictures ? " with B-frames" : "")
                + (track.stream == .sub ? " (substream)" : "")
        }
        let theirs = played.isEmpty ? "none" : played.map(\.summary).joined(separator: ", ")
        return "no common video codec: \(camera) sends \(ours.joined(separator: ", ")), the viewer plays \(theirs); "
            + remedies.map { words($0) }.joined(separator: ", or ")
            + (faults.isEmpty ? "" : " (\(faults.map(\.words).joined(separator: "; ")))")
    }

    private func words(_ remedy: Remedy) -> String {
        switch remedy {
        case .allowTranscoding: "set transcodeVideo: auto for \(camera)"
        case .useViewerWithVP8: "use a viewer that plays VP8, to which the gateway transcodes"
        case .addSubstream: "give it a substream in H.264 without B-frames"
        case .changeCodec: "set the camera to a codec that the viewer plays"
        }
    }
}
