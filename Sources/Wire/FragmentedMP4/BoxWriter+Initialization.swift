/// The boxes in front of all samples (ISO/IEC 14496-12, section 8).
extension BoxWriter {
    /// The brands, and the description of the tracks, which hold no samples yet.
    mutating func writeInitialization(_ tracks: [MP4Track]) {
        box("ftyp") {
            $0.write(ascii: "iso5")
            $0.write(UInt32(512))
            for brand: StaticString in ["iso5", "iso6", "isom", "mp41"] { $0.write(ascii: brand) }
        }
        writeMovie(tracks)
    }

    /// The description of the tracks, which hold no samples yet.
    mutating func writeMovie(_ tracks: [MP4Track], firstIdentifier first: UInt32 = 1) {
        box("moov") {
            $0.writeMovieHeader(lastIdentifier: Int(first) + tracks.count - 1)
            for (index, track) in tracks.enumerated() { $0.writeTrack(track, identifier: first + UInt32(index)) }
            $0.box("mvex") {
                for index in tracks.indices {
                    $0.fullBox("trex") {
                        $0.write(first + UInt32(index))
                        $0.write(UInt32(1))
                        $0.zeros(12)
                    }
                }
            }
        }
    }

    mutating func writeMovieHeader(lastIdentifier: Int) {
        fullBox("mvhd") {
            $0.zeros(8)
            $0.write(UInt32(1_000))
            // The duration is unknown: the samples follow in fragments.
            $0.write(UInt32(0))
            $0.writeMovieHeaderEnd(trackCount: lastIdentifier)
        }
    }

    private mutating func writeTrack(_ track: MP4Track, identifier: UInt32) {
        box("trak") {
            // Enabled, in the movie and in the preview.
            $0.fullBox("tkhd", flags: 7) {
                $0.zeros(8)
                $0.write(identifier)
                $0.zeros(8)
                $0.writeTrackHeaderEnd(
                    isVideo: track.isVideo, width: UInt32(track.size.width), height: UInt32(track.size.height))
            }
            $0.box("mdia") {
                $0.fullBox("mdhd") {
                    $0.zeros(8)
                    $0.write(UInt32(track.timescale))
                    $0.write(UInt32(0))
                    $0.writeMediaHeaderEnd()
                }
                $0.writeMedia(isVideo: track.isVideo) {
                    $0.fullBox("stsd") {
                        $0.write(UInt32(1))
                        $0.writeSampleEntry(track)
                    }
                    $0.fullBox("stts") { $0.write(UInt32(0)) }
                    $0.fullBox("stsc") { $0.write(UInt32(0)) }
                    $0.fullBox("stsz") { $0.zeros(8) }
                    $0.fullBox("stco") { $0.write(UInt32(0)) }
                }
            }
        }
    }
}
