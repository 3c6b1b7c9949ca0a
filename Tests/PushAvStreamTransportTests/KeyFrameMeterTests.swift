import Testing

@testable import PushAvStreamTransport

/// How far a camera's key frames are apart.
@Suite("The interval between key frames")
struct KeyFrameMeterTests {
    /// A meter and the camera's clock, which begins close to where RTP timestamps wrap.
    struct Camera {
        var meter = KeyFrameMeter()
        var time: UInt32 = .max - 90_000

        init() { _ = meter.record(time, clockRate: 90_000) }

        /// Sends key frames at these distances in milliseconds.
        /// - Returns: the interval after each.
        mutating func send(_ distances: Double...) -> [UInt16?] {
            distances.map { distance in
                time = time &+ UInt32(distance * 90)
                let before = meter.interval
                let isChange = meter.record(time, clockRate: 90_000)
                let after = meter.interval
                #expect(isChange == (after != before))
                return after
            }
        }
    }

    static let distances: [(measured: Double, interval: UInt16?)] = [
        (1_000, 1_000), (2_002, 2_000), (4_004, 4_000), (3_333, 3_333), (1_234, 1_234), (66_000, nil),
    ]

    @Test("Three equal distances are an interval, and those of NTSC count as what they mean", arguments: distances)
    func steady(_ measured: Double, _ interval: UInt16?) {
        var camera = Camera()
        let intervals = camera.send(measured, measured, measured, measured)
        #expect(intervals == [nil, nil, interval, interval])
    }

    @Test("Key frames that a viewer requested do not change it, and a camera that has none loses it")
    func requests() {
        var camera = Camera()
        _ = camera.send(4_000, 4_000, 4_000)
        _ = camera.send(1_200, 2_800, 4_000, 700, 3_300)
        #expect(camera.meter.interval == 4_000)
        _ = camera.send(5_000, 9_000, 2_000, 7_000, 3_000, 8_000, 1_000, 6_000)
        #expect(camera.meter.interval == nil)
        _ = camera.send(2_000, 2_000, 2_000)
        #expect(camera.meter.interval == 2_000)
    }

    @Test("A camera with another setting has another interval, and a loss or a jump of its clock is not a distance")
    func changes() {
        var camera = Camera()
        _ = camera.send(1_000, 1_000, 1_000)
        let intervals = camera.send(4_000, 4_000, 4_000)
        #expect(intervals == [1_000, 1_000, 4_000])
        camera.meter.interrupt()
        _ = camera.send(20_000)
        camera.time = camera.time &- 900_000_000
        _ = camera.send(0, 4_000)
        #expect(camera.meter.interval == 4_000)
    }
}
