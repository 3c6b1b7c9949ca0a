import Cameras
import Transport

extension FuzzTarget {
    static let camera = FuzzTarget(
        "camera", "a camera's description and then its packets, on their way to viewers", maximumLength: 4096,
        dictionary: sdpWords,
        seeds: {
            cameraFormats.enumerated().map { index, format in
                let payloads = index < videoPayloads.count ? videoPayloads[index] : [[0, 16, 0, 0x20, 1, 2, 3, 4]]
                let kind = index < videoPayloads.count ? "video" : "audio"
                let text = "v=0\r\nm=\(kind) 0 RTP/AVP 96\r\na=rtpmap:96 \(format)\r\na=control:track1\r\n"
                return [200] + [UInt8].piece([UInt8](text: text))
                    + payloads.enumerated().flatMap { number, payload in
                        [1]
                            + [UInt8].piece(
                                rtpPacket(UInt16(number), 90, marker: number == payloads.count - 1, payload))
                    }
            }
        }
    ) { bytes throws(FuzzFailure) in
        var input = FuzzInput(bytes)
        let limit = max(64, Int(input.byte()) * 6)
        let reception = CameraReception(description: String(fuzzed: input.piece()), limit: limit)
        guard var reception else { return }
        var now = Instant.zero
        while !input.isEmpty {
            now += .milliseconds(Int(input.byte()))
            reception.receive(input.piece(), at: now)
        }
        reception.flush(at: now)
        let (largest, total) = reception.lengths
        // A packet of sound that cannot be cut between samples is passed on unchanged.
        try require(largest <= max(limit, bytes.count), "a payload of \(largest) bytes where \(limit) fit")
        try require(total <= 64 * (bytes.count + 4096), "\(total) bytes out of \(bytes.count)")
    }

    private static let cameraFormats = [
        "H264/90000", "H265/90000", "VP8/90000", "VP9/90000", "JPEG/90000", "AV1/90000",
        "mpeg4-generic/48000/2\r\na=fmtp:96 mode=AAC-hbr;sizeLength=13;indexLength=3;indexDeltaLength=3;config=1190",
        "L16/48000/2", "PCMU/8000", "opus/48000/2", "MP4A-LATM/48000/2\r\na=fmtp:96 cpresent=0;config=400026203FC0",
    ]
}
