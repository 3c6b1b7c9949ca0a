import Stations
import Transport

/// The delivery of the output: the sink takes it, and the recorder's status counts it.
extension RecorderWork {
    mutating func deliver(to recorder: CameraRecorder, at now: Instant) {
        for (id, output) in assembler.takeOutputs() {
            // The rest belongs to a session that has ended.
            if pausedUntil != nil { break }
            // Another gateway may write for the camera already.
            if permit?.mayAct == false {
                loseTenure(recorder, at: now)
                break
            }
            do throws(RecordingFault) {
                try recorder.sink.take(output, of: id)
                count(output, of: id, for: recorder)
            } catch {
                recorder.update { status in
                    status.counters.faults += 1
                    status.session = nil
                }
                recorder.report(.fault(error))
                pausedUntil = now + configuration.pauseAfterFault
                assembler.isSuspended = true
                assembler.abandon(error.endReason)
                for (id, output) in assembler.takeOutputs() {
                    // The sink may not be able to take even this. It has the session's files, and then ends them itself.
                    try? recorder.sink.take(output, of: id)
                    if case .ended(let end) = output { recorder.report(.ended(id, end)) }
                }
            }
        }
    }

    /// This gateway no longer runs the camera: nothing more of it is written, not even the end of its session.
    private mutating func loseTenure(_ recorder: CameraRecorder, at now: Instant) {
        assembler.stop(.inactive, at: now)
        _ = assembler.takeOutputs()
        release(recorder.relay)
        recorder.update { status in
            status.session = nil
            status.isWanted = false
        }
        recorder.report(.refused(.runsElsewhere(camera: configuration.device)))
    }

    private func count(
        _ output: RecordingOutput, of id: RecordingSession.ID, for recorder: CameraRecorder
    ) {
        switch output {
        case .began(let session):
            recorder.update { status in
                status.session = id
                status.counters.sessions += 1
            }
            recorder.report(.began(session))
        case .chunk(let chunk):
            let length = UInt64(chunk.bytes.count)
            recorder.update { status in
                status.counters.chunks += 1
                status.counters.bytes += length
            }
        case .gap: recorder.update { $0.counters.gaps += 1 }
        case .ended(let end):
            recorder.update { $0.session = nil }
            recorder.report(.ended(id, end))
        case .segmentEnded, .trigger: break
        }
    }
}
