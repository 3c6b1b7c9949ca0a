import RTP

/// What decoders need for the codecs whose configuration is read from the stream itself.
extension BoxWriter {
    /// HEVCDecoderConfigurationRecord (ISO/IEC 14496-15, section 8.3.3.1).
    mutating func writeH265Configuration(video: [[UInt8]], sequence: [[UInt8]], picture: [[UInt8]]) {
        let first = sequence.first?.withUnsafeBytes { H265.SequenceParameterSet(parsing: $0) }
        box("hvcC") {
            $0.write(UInt8(1))
            $0.write(first?.profileTierLevel ?? [UInt8](repeating: 0, count: 12))
            // The limit of the segmentation and the kind of parallel decoding are unknown.
            $0.write(UInt16(0xF000))
            $0.write(UInt8(0xFC))
            $0.write(UInt8(0xFC | (first?.chromaFormat ?? 1)))
            $0.write(UInt8(0xF8 | ((first?.bitDepth ?? 8) - 8)))
            $0.write(UInt8(0xF8 | ((first?.chromaBitDepth ?? 8) - 8)))
            // The frame rate is not stated. One temporal layer; lengths before NAL units have four bytes.
            $0.write(UInt16(0))
            $0.write(UInt8(1 << 3 | 3))
            let arrays = [
                (H265.UnitType.videoParameterSet, video), (H265.UnitType.sequenceParameterSet, sequence),
                (H265.UnitType.pictureParameterSet, picture),
            ]
            $0.write(UInt8(arrays.count))
            for (type, sets) in arrays {
                // All sets of this type follow.
                $0.write(0x80 | type)
                $0.write(UInt16(sets.count))
                for set in sets {
                    $0.write(UInt16(set.count))
                    $0.write(set)
                }
            }
        }
    }

    /// VP Codec Configuration Box, version 1. Colours other than their sampling are left unspecified (2).
    mutating func writeVP9Configuration(_ header: VP9.FrameHeader) {
        let chroma: UInt8 =
            switch (header.isSubsampledHorizontally, header.isSubsampledVertically) {
            case (true, true): 1
            case (true, false): 2
            default: 3
            }
        fullBox("vpcC", version: 1) {
            $0.write([
                UInt8(header.profile), Self.vp9Level(pixels: header.width * header.height),
                UInt8(header.bitDepth) << 4 | chroma << 1 | (header.isFullRange ? 1 : 0), 2, 2, 2,
            ])
            $0.write(UInt16(0))
        }
    }

    /// The lowest level whose pictures can be this large (VP9 bitstream specification, annex A). The rate is unknown,
    /// so the level is a lower bound.
    static func vp9Level(pixels: Int) -> UInt8 {
        let levels: [(pixels: Int, level: UInt8)] = [
            (36_864, 10), (73_728, 11), (122_880, 20), (245_760, 21), (552_960, 30), (983_040, 31), (2_228_224, 40),
            (8_912_896, 50),
        ]
        return levels.first { pixels <= $0.pixels }?.level ?? 60
    }

    /// AV1CodecConfigurationBox (AV1 Codec ISO Media File Format Binding, section 2.3).
    mutating func writeAV1Configuration(_ header: AV1.SequenceHeader, unit: [UInt8]) {
        box("av1C") {
            var flags: UInt8 = header.isHighTier ? 0x80 : 0
            if header.bitDepth > 8 { flags |= 0x40 }
            if header.bitDepth == 12 { flags |= 0x20 }
            if header.isMonochrome { flags |= 0x10 }
            if header.isSubsampledHorizontally { flags |= 0x08 }
            if header.isSubsampledVertically { flags |= 0x04 }
            $0.write([
                0x81, UInt8(header.profile) << 5 | UInt8(header.level), flags | UInt8(header.chromaSamplePosition), 0,
            ])
            $0.write(unit)
        }
    }

    /// ES Descriptor Box (ISO/IEC 14496-14, section 5.6; the descriptors are those of ISO/IEC 14496-1, section 7.2.6).
    mutating func writeAACConfiguration(_ configuration: [UInt8]) {
        // Each descriptor has a tag, a length and its content. All of them are shorter than 128 bytes.
        func descriptor(_ tag: UInt8, _ body: [UInt8]) -> [UInt8] { [tag, UInt8(body.count)] + body }
        // Audio of ISO/IEC 14496-3 as an audio stream; buffer size and bit rates are unknown.
        let decoder = descriptor(4, [0x40, 0x15] + [UInt8](repeating: 0, count: 11) + descriptor(5, configuration))
        fullBox("esds") {
            $0.write(descriptor(3, [0, 0, 0] + decoder + descriptor(6, [2])))
        }
    }
}
