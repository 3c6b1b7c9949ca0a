import RTP

/// The descriptions of the codecs (ISO/IEC 14496-12, section 8.5.2, and each codec's own binding).
extension BoxWriter {
    mutating func writeSampleEntry(_ track: MP4Track) {
        switch track.codec {
        case .vp8(let width, let height):
            writeVideoEntry("vp08", width: width, height: height) { $0.writeVP8Configuration() }
        case .h264(let width, let height, let sequence, let picture):
            writeVideoEntry("avc1", width: width, height: height) {
                $0.writeH264Configuration(sequence: sequence, picture: picture)
            }
        case .h265(let width, let height, let video, let sequence, let picture):
            writeVideoEntry("hvc1", width: width, height: height) {
                $0.writeH265Configuration(video: video, sequence: sequence, picture: picture)
            }
        case .vp9(let header):
            writeVideoEntry("vp09", width: header.width, height: header.height) { $0.writeVP9Configuration(header) }
        case .av1(let header, let unit):
            writeVideoEntry("av01", width: header.width, height: header.height) {
                $0.writeAV1Configuration(header, unit: unit)
            }
        case .opus(let channels, let preSkip):
            writeAudioEntry("Opus", channels: channels, rate: 48_000) {
                $0.writeOpusConfiguration(channels: channels, preSkip: preSkip)
            }
        case .muLaw(let channels):
            writeAudioEntry("ulaw", channels: channels, rate: track.timescale) { _ in }
        case .aLaw(let channels):
            writeAudioEntry("alaw", channels: channels, rate: track.timescale) { _ in }
        case .aac(let channels, let sampleRate, let configuration):
            // The entry's rate has 16 bits; a rate that does not fit is only in the configuration.
            writeAudioEntry("mp4a", channels: channels, rate: sampleRate <= 0xFFFF ? sampleRate : 0) {
                $0.writeAACConfiguration(configuration)
            }
        }
    }

    private mutating func writeVideoEntry(
        _ type: StaticString, width: Int, height: Int, _ configuration: (inout BoxWriter) -> Void
    ) {
        box(type) {
            $0.zeros(6)
            $0.write(UInt16(1))
            $0.zeros(16)
            $0.write(UInt16(width))
            $0.write(UInt16(height))
            // 72 dots an inch in both directions, which has no meaning but is mandatory.
            $0.write(UInt32(0x0048_0000))
            $0.write(UInt32(0x0048_0000))
            $0.zeros(4)
            $0.write(UInt16(1))
            $0.zeros(32)
            $0.write(UInt16(24))
            $0.write(UInt16.max)
            configuration(&$0)
        }
    }

    private mutating func writeAudioEntry(
        _ type: StaticString, channels: Int, rate: Int, _ configuration: (inout BoxWriter) -> Void
    ) {
        box(type) {
            $0.zeros(6)
            $0.write(UInt16(1))
            $0.zeros(8)
            $0.write(UInt16(channels))
            $0.write(UInt16(16))
            $0.zeros(4)
            $0.write(UInt32(truncatingIfNeeded: rate) << 16)
            configuration(&$0)
        }
    }

    /// VP Codec Configuration Box, version 1: profile 0, level 0 (unknown), 8 bits, 4:2:0, colours unspecified.
    private mutating func writeVP8Configuration() {
        fullBox("vpcC", version: 1) {
            $0.write([0, 0, 8 << 4 | 1 << 1, 2, 2, 2])
            $0.write(UInt16(0))
        }
    }

    /// AVCDecoderConfigurationRecord (ISO/IEC 14496-15, section 5.3.3.1). Of the profiles that add a chroma format and
    /// bit depths, only High is supported, where these are fixed. For the rarer profiles they are left out, and a
    /// reader finds them in the parameter sets.
    private mutating func writeH264Configuration(sequence: [[UInt8]], picture: [[UInt8]]) {
        box("avcC") {
            $0.write(UInt8(1))
            $0.write(Array((sequence.first ?? []).dropFirst().prefix(3)))
            // The lengths before NAL units have four bytes.
            $0.write(UInt8(0xFC | 3))
            $0.write(UInt8(0xE0 | sequence.count))
            for set in sequence {
                $0.write(UInt16(set.count))
                $0.write(set)
            }
            $0.write(UInt8(picture.count))
            for set in picture {
                $0.write(UInt16(set.count))
                $0.write(set)
            }
            if sequence.first?[1] == 100 { $0.write([0xFC | 1, 0xF8, 0xF8, 0]) }
        }
    }

    /// Opus Specific Box (Encapsulation of Opus in ISO Base Media File Format, section 4.3.2).
    private mutating func writeOpusConfiguration(channels: Int, preSkip: Int) {
        box("dOps") {
            $0.write(UInt8(0))
            $0.write(UInt8(channels))
            $0.write(UInt16(preSkip))
            $0.write(UInt32(48_000))
            $0.write(UInt16(0))
            $0.write(UInt8(0))
        }
    }
}
