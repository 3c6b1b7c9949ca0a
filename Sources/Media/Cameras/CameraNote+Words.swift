import ONVIF
import SDP

extension CameraNote: CustomStringConvertible {
    /// The note as people read it.
    public var description: String {
        switch self {
        case .backChannel(let kind, let index): "\(Self.label(kind, index)) is a back channel"
        case .notPulled(let kind, let index, let reason): "\(Self.label(kind, index)) \(reason)"
        case .trackRefused(let kind, let error): "\(kind) is left out: \(error)"
        case .srtpNotRequested:
            "the address asks for SRTP (enableSrtp), which is left out: the connection is encrypted as a whole"
        case .certificateChanged(let earlier):
            "the camera's certificate has changed; the one before has the fingerprint \(earlier). If nobody "
                + "changed the camera, somebody may be intercepting the connection"
        case .stream(let form): "the camera sends \(form.name)"
        case .unsupportedPart(let part): "\(part) is left out: it is not supported"
        case .pictures(let isSeries, let width, let height, let tenths, let cutOff):
            "the camera sends JPEG pictures, \(isSeries ? "a series in one answer" : "one for each request")"
                + "; the gateway makes H.264 of \(width)×\(height) pixels of them"
                + (tenths.map { Self.rate(tenths: $0, cutOff: cutOff) } ?? "")
        case .device(let name, let format, let width, let height):
            "the device \(name) sends \(format) of \(width)×\(height) pixels"
        case .noSmallerStream: ONVIFError.noSecondProfile.description
        case .substreamState(let state, nil): "substream: \(state.words)"
        case .substreamState(let state, let transport?): "substream: \(state.words) over \(transport)"
        case .substream(let note): "substream: \(note)"
        }
    }

    private static func label(_ kind: MediaKind, _ index: Int) -> String { "\(kind.name) (m-line \(index + 1))" }

    private static func rate(tenths: Int, cutOff: UInt64) -> String {
        " (\(tenths / 10).\(tenths % 10) pictures per second come"
            + (cutOff > 0 ? ", \(cutOff) were cut off)" : ")")
    }
}

extension StreamAddress.Form {
    /// The form as people call it.
    var name: String {
        switch self {
        case .playlist: "HLS"
        case .transportStreamOverHTTP: "MPEG-TS over HTTP"
        case .flashOverHTTP: "FLV over HTTP"
        case .rtmp: "RTMP"
        case .transportStreamOverTCP: "MPEG-TS over TCP"
        case .transportStreamOverUDP: "MPEG-TS over UDP"
        }
    }
}
