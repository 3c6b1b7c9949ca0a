import RTP
import Transport

extension FuzzTarget {
    static let frames = FuzzTarget(
        "frames", "packets of one video stream, with losses and delays, through its depacketizer", maximumLength: 4096,
        seeds: { frameSeeds }
    ) { bytes throws(FuzzFailure) in
        var input = FuzzInput(bytes)
        let formats = videoFormats
        var assembler = FrameAssembler(
            format: formats[Int(input.byte()) % formats.count], maximumFrameLength: 64 * 1024)
        var number: UInt16 = 0
        var timestamp: UInt32 = 0
        var now = Instant.zero
        func take() throws(FuzzFailure) {
            while let frame = assembler.nextFrame(at: now) {
                // Each unit gets a start code, a JPEG picture its tables.
                try require(frame.data.count <= 2 * 64 * 1024 + 4096, "a frame of \(frame.data.count) bytes")
                frame.data.withUnsafeBytes { data in
                    for unit in AnnexBUnits(data) {
                        observe(H264.SequenceParameterSet(parsing: unit))
                        observe(H265.SequenceParameterSet(parsing: unit))
                        observe(H264.sliceType(ofUnit: unit))
                    }
                    observe(VP8.FrameHeader(parsing: data))
                    observe(VP9.FrameHeader(parsing: data))
                    observe(AV1.SequenceHeader.find(inTemporalUnit: data)?.header)
                }
            }
        }
        while !input.isEmpty {
            // One byte says what is unusual about a packet; for most packets nothing is.
            let control = input.byte()
            number &+= control & 0x40 != 0 ? input.word() : 1
            if control & 0x20 != 0 { timestamp &+= UInt32(input.word()) }
            now += .milliseconds(control & 0x10 != 0 ? Int(input.byte()) * 4 : 1)
            assembler.insert(
                sequenceNumber: number, timestamp: timestamp, marker: control & 0x80 != 0, payload: input.piece(),
                at: now)
            try take()
            observe(assembler.takeKeyFrameRequest(at: now))
        }
        now += .seconds(2)
        try take()
    }

    private static var videoFormats: [FrameAssembler.Format] {
        ["h264", "h265", "vp8", "vp9", "jpeg", "av1"].compactMap(FrameAssembler.Format.init(named:))
    }

    /// One stream of each format, by its number in ``videoFormats``.
    private static let frameSeeds: [[UInt8]] = videoPayloads.prefix(videoFormats.count).enumerated().map {
        index, packets in
        [UInt8(index)]
            + packets.enumerated().flatMap { number, payload in
                [number == packets.count - 1 ? 0x80 : 0] + [UInt8].piece(payload)
            } + [0x20, 0x0B, 0xB8] + [UInt8].piece(packets.last ?? [])
    }

    /// The payloads of one key frame each: H.264, H.265, VP8, VP9, JPEG, AV1.
    static let videoPayloads: [[[UInt8]]] = [
        [
            [0x67, 0x42, 0xC0, 0x1F, 0xDA, 0x01, 0x40, 0x16, 0xE9, 0xA8], [0x68, 0xCE, 0x3C, 0x80],
            [0x78, 0, 4, 0x68, 0xCE, 0x3C, 0x80, 0, 2, 0x06, 5], [0x7C, 0x85, 0x88, 0x84], [0x7C, 0x05, 1, 2],
            [0x7C, 0x45, 3, 4],
        ],
        [
            [0x40, 1, 0x0C, 1], [0x42, 1, 1, 1, 0x60, 0, 0, 3, 0, 0x90, 0, 0, 3, 0, 0, 3, 0, 0x5D, 0xA0, 2, 0x80],
            [0x44, 1, 0xC1], [0x60, 1, 0, 3, 0x40, 1, 0x0C, 0, 3, 0x44, 1, 0xC1], [0x62, 1, 0x93, 0x80, 1],
            [0x62, 1, 0x53, 2, 3],
        ],
        [
            [0x10, 0x10, 2, 0, 0x9D, 1, 0x2A, 0x80, 2, 0x68, 1, 7, 7], [0x90, 0x80, 0x81, 5, 1, 2, 3],
            [0x80, 0xF0, 0x80, 9, 1, 0x20, 4],
        ],
        [[0x88, 5, 0x82, 0x49, 0x83, 0x42, 0], [0x80, 5, 1, 2], [0x84, 5, 3, 4], [0xCC, 6, 0x86, 2]],
        [
            [0, 0, 0, 0, 1, 95, 80, 60, 1, 2, 3, 4], [0, 0, 0, 4, 1, 95, 80, 60, 5, 6, 0xFF, 0xD9],
            [0, 0, 0, 0, 65, 255, 2, 2, 0, 9, 0, 0, 0, 0, 0, 128] + [UInt8](repeating: 16, count: 128) + [1, 2],
        ],
        [[0x18, 0x0A, 0x0B, 0, 0, 0, 2, 0x0A, 0x30, 0x10, 1, 2], [0x50, 0x30, 1, 2, 3], [0x90, 4, 5]],
    ]

    static let sound = FuzzTarget(
        "sound", "packets of AAC in both payload formats and of Opus, and their configurations", maximumLength: 2048,
        seeds: {
            [
                [0, 0x12, 0x10] + [UInt8].piece([0, 16, 0, 0x20, 1, 2, 3, 4]) + [UInt8].piece([0, 16, 0, 0x28, 1, 2]),
                [1, 0x40, 0, 0x26, 0x20, 0x3F, 0xC0] + [UInt8].piece([4, 1, 2, 3, 4]) + [UInt8].piece([0xFF, 1]),
                [2, 0] + [UInt8].piece([0x78, 1, 2, 3]) + [UInt8].piece([0xFB, 0x82, 1, 2]),
                [3, 13, 3, 3, 0, 0] + [UInt8].piece([0, 16, 0, 0x20, 1, 2, 3, 4]),
            ]
        }
    ) { bytes throws(FuzzFailure) in
        var input = FuzzInput(bytes)
        var failure: FuzzFailure?
        func check(_ count: Int) {
            if count > 64 * 1024 { failure = FuzzFailure("a frame of \(count) bytes") }
        }
        switch input.byte() % 4 {
        case 0:
            if let configuration = AudioSpecificConfig(parsing: Array(input.bytes(2))) {
                observe((configuration.channels, configuration.name, configuration.bytes))
            }
            var depacketizer = MPEG4GenericDepacketizer(.aacHighBitRate)
            while !input.isEmpty { observe(depacketizer.depacketize(input.piece()) { check($0.count) }) }
        case 1:
            let isInBand = input.byte() & 1 == 1
            var depacketizer = MPEG4LATMDepacketizer(
                streamMuxConfig: Array(input.bytes(6)), isConfigurationInBand: isInBand)
            while !input.isEmpty {
                let payload = input.piece()
                if payload.count % 7 == 6 { depacketizer.recordLoss() }
                _ = depacketizer.depacketize(payload) { frame, configuration in
                    check(frame.count)
                    observe(AudioSpecificConfig(parsing: configuration))
                }
            }
        case 2:
            while !input.isEmpty {
                guard let contents = Opus.TableOfContents(parsing: input.piece()) else { continue }
                // At most 120 ms (RFC 6716, section 3.2.5).
                try require((1...5760).contains(contents.sampleCount), "\(contents.sampleCount) samples of Opus")
            }
        default:
            var depacketizer = MPEG4GenericDepacketizer(
                MPEG4Generic.Parameters(
                    sizeLength: Int(input.byte()), indexLength: Int(input.byte()), indexDeltaLength: Int(input.byte()),
                    streamStateLength: Int(input.byte()), constantSize: Int(input.byte())))
            while !input.isEmpty { observe(depacketizer.depacketize(input.piece()) { check($0.count) }) }
        }
        if let failure { throw failure }
    }
}
