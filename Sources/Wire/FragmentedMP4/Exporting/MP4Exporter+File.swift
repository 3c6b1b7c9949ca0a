/// The boxes of the exported file (ISO/IEC 14496-12, section 8).
extension MP4Exporter {
    /// Seconds from 1904, where MP4 counts from, to 1970.
    private static let secondsFrom1904: Int64 = 2_082_844_800

    /// - Parameter duration: of the file in microseconds, more than 0.
    func makeFile(duration: Int64) -> MP4Export {
        // Blocks of all tracks in the order of time, so that a player finds picture and sound next to each other.
        var order: [(track: Int, block: Int)] = []
        for (index, output) in outputs.enumerated() { order += output.blocks.indices.map { (index, $0) } }
        order.sort {
            let (left, right) = (outputs[$0.track].blocks[$0.block].time, outputs[$1.track].blocks[$1.block].time)
            return left == right ? $0.track < $1.track : left < right
        }
        let mediaLength = outputs.reduce(Int64(0)) { $0 + $1.blocks.reduce(0) { $0 + $1.length } }
        // Offsets have 32 bits if everything fits, which old players read too. The tables are at most as long as this.
        var tables: Int64 = 4_096
        for output in outputs {
            let ofSamples = output.sizes.count + output.syncSamples.count * 4
            let ofRuns = (output.durations.count + output.compositions.count) * 8
            tables += Int64(ofSamples + ofRuns + output.blocks.count * 24 + output.track.sampleEntry.count)
        }
        let isLong = mediaLength + tables >= Int64(UInt32.max)
        func head(_ offsets: [[Int64]]) -> [UInt8] {
            var writer = BoxWriter()
            writer.box("ftyp") {
                $0.write(ascii: "isom")
                $0.write(UInt32(512))
                for brand: StaticString in ["isom", "iso2", "mp41"] { $0.write(ascii: brand) }
            }
            writer.box("moov") {
                $0.writeExportHeader(created: created, duration: duration, tracks: outputs.count)
                for (index, output) in outputs.enumerated() {
                    $0.writeExportTrack(
                        output, identifier: UInt32(index + 1), created: created, duration: duration,
                        offsets: offsets[index], isLong: isLong)
                }
            }
            if isLong {
                writer.write(UInt32(1))
                writer.write(ascii: "mdat")
                writer.write(UInt64(mediaLength + 16))
            } else {
                writer.write(UInt32(truncatingIfNeeded: mediaLength + 8))
                writer.write(ascii: "mdat")
            }
            return writer.bytes
        }
        // The head has the same length whatever the offsets are.
        var offsets = outputs.map { [Int64](repeating: 0, count: $0.blocks.count) }
        var position = Int64(head(offsets).count)
        var pieces: [MP4Export.Piece] = []
        pieces.reserveCapacity(order.count + 1)
        for (track, block) in order {
            let one = outputs[track].blocks[block]
            offsets[track][block] = position
            position += one.length
            if case .source(let source, let offset, let length) = pieces.last, source == one.source,
                offset + length == one.offset
            {
                pieces[pieces.count - 1] = .source(source, offset: offset, length: length + one.length)
            } else {
                pieces.append(.source(one.source, offset: one.offset, length: one.length))
            }
        }
        pieces.insert(.bytes(head(offsets)), at: 0)
        return MP4Export(
            pieces: pieces, length: position, duration: duration, samples: outputs.reduce(0) { $0 + $1.sampleCount })
    }

    private var created: UInt64 { UInt64(max(0, startTime + Self.secondsFrom1904)) }
}

extension BoxWriter {
    fileprivate mutating func writeExportHeader(created: UInt64, duration: Int64, tracks: Int) {
        fullBox("mvhd", version: 1) {
            $0.write(created)
            $0.write(created)
            $0.write(UInt32(MP4Exporter.movieTimescale))
            $0.write(UInt64(max(0, duration)))
            $0.writeMovieHeaderEnd(trackCount: tracks)
        }
    }

    fileprivate mutating func writeExportTrack(
        _ output: MP4ExportTrack, identifier: UInt32, created: UInt64, duration: Int64, offsets: [Int64], isLong: Bool
    ) {
        let track = output.track
        let end = min(duration, output.microseconds(output.endTime + Int64(output.firstComposition)))
        // When the first picture is shown. Before the range: the edit begins inside. After: an empty edit comes first.
        let shown = output.firstTime + Int64(output.firstComposition)
        let delay = max(0, output.microseconds(shown))
        let mediaTime = shown > 0 ? Int64(output.firstComposition) : -output.firstTime
        box("trak") {
            $0.fullBox("tkhd", version: 1, flags: 7) {
                $0.write(created)
                $0.write(created)
                $0.write(identifier)
                $0.zeros(4)
                $0.write(UInt64(max(0, end)))
                $0.writeTrackHeaderEnd(
                    isVideo: track.isVideo, width: UInt32(track.width), height: UInt32(track.height))
            }
            $0.box("edts") {
                $0.fullBox("elst", version: 1) {
                    $0.write(UInt32(delay > 0 ? 2 : 1))
                    if delay > 0 {
                        $0.write(UInt64(delay))
                        $0.write(Int64(-1))
                        $0.write(UInt32(0x0001_0000))
                    }
                    $0.write(UInt64(max(0, end - delay)))
                    $0.write(mediaTime)
                    $0.write(UInt32(0x0001_0000))
                }
            }
            $0.box("mdia") {
                $0.fullBox("mdhd", version: 1) {
                    $0.write(created)
                    $0.write(created)
                    $0.write(track.timescale)
                    $0.write(UInt64(max(0, output.endTime - output.firstTime)))
                    $0.writeMediaHeaderEnd()
                }
                $0.writeMedia(isVideo: track.isVideo) {
                    $0.writeExportTables(output, offsets: offsets, isLong: isLong)
                }
            }
        }
    }

    private mutating func writeExportTables(_ output: MP4ExportTrack, offsets: [Int64], isLong: Bool) {
        fullBox("stsd") {
            $0.write(UInt32(1))
            $0.write(output.track.sampleEntry)
        }
        fullBox("stts") {
            $0.write(UInt32(output.durations.count))
            for (count, duration) in output.durations {
                $0.write(count)
                $0.write(duration)
            }
        }
        if output.compositions.contains(where: { $0.offset != 0 }) {
            fullBox("ctts", version: 1) {
                $0.write(UInt32(output.compositions.count))
                for (count, offset) in output.compositions {
                    $0.write(count)
                    $0.write(offset)
                }
            }
        }
        // Without the table, every sample can be decoded alone.
        if output.track.isVideo, output.syncSamples.count < output.sampleCount {
            fullBox("stss") {
                $0.write(UInt32(output.syncSamples.count))
                for number in output.syncSamples { $0.write(number) }
            }
        }
        fullBox("stsz") {
            $0.write(UInt32(0))
            $0.write(UInt32(output.sampleCount))
            $0.write(output.sizes)
        }
        var runs: [(first: UInt32, samples: UInt32)] = []
        for (index, block) in output.blocks.enumerated() where runs.last?.samples != block.samples {
            runs.append((UInt32(index + 1), block.samples))
        }
        fullBox("stsc") {
            $0.write(UInt32(runs.count))
            for (first, samples) in runs {
                $0.write(first)
                $0.write(samples)
                $0.write(UInt32(1))
            }
        }
        if isLong {
            fullBox("co64") {
                $0.write(UInt32(offsets.count))
                for offset in offsets { $0.write(UInt64(offset)) }
            }
        } else {
            fullBox("stco") {
                $0.write(UInt32(offsets.count))
                for offset in offsets { $0.write(UInt32(truncatingIfNeeded: offset)) }
            }
        }
    }
}
