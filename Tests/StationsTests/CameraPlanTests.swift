import Cameras
import RTSP
import Testing

@testable import Stations

/// What happens to each camera when the wanted list differs from the running one.
@Suite struct CameraPlanTests {
    typealias Camera = CameraSettings

    func camera(_ id: String, _ source: String = "rtsp://192.0.2.1/", _ change: (inout Camera) -> Void = { _ in })
        -> Camera
    {
        var camera = Camera(id: id, name: id, source: .rtsp(source))
        change(&camera)
        return camera
    }

    @Test func whatStaysIsNotTouched() {
        let cameras = [camera("a"), camera("b")]
        #expect(CameraPlan(running: cameras, wanted: cameras).steps.isEmpty)
        #expect(CameraPlan(running: cameras, wanted: cameras.reversed()).steps.isEmpty)
    }

    @Test func removalsComeBeforeAdditions() {
        let plan = CameraPlan(running: [camera("a")], wanted: [camera("b")])
        #expect(plan.steps == [.remove(id: "a"), .add(camera("b"))])
    }

    @Test func aChangedNameDoesNotTouchTheMedia() {
        let renamed = camera("a") {
            $0.name = "Yard"; $0.isDoorbell = true; $0.acceptsReports = true
        }
        #expect(CameraPlan(running: [camera("a")], wanted: [renamed]).steps == [.relabel(renamed)])
    }

    @Test func aChangeOfHowMediaIsPulledReplacesTheSource() {
        let changes: [(inout Camera) -> Void] = [
            { $0.source = .builtInDoorbell }, { $0.substream = .rtsp("rtsp://192.0.2.1/2") }, { $0.transport = .udp },
            { $0.keepAlive = .options }, { $0.looksForSpeaker = false },
        ]
        for change in changes {
            let wanted = camera("a", "rtsp://192.0.2.1/", change)
            #expect(CameraPlan(running: [camera("a")], wanted: [wanted]).steps == [.replaceSource(wanted)])
        }
    }

    @Test func aChangeOfWhatViewersGetRestartsTheCamera() {
        for wanted in [camera("a") { $0.pull = .onDemand }, camera("a") { $0.transcodesVideo = .always }] {
            #expect(CameraPlan(running: [camera("a")], wanted: [wanted]).steps == [.restart(wanted)])
        }
    }

    @Test func anySequenceOfPlansReachesItsGoal() {
        var state: UInt64 = 11
        func next(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % bound
        }
        var running: [String: Camera] = [:]
        for _ in 0..<2_000 {
            let wanted = (0..<next(6)).map { _ in
                self.camera("c\(next(8))", "rtsp://192.0.2.1/\(next(2))") {
                    $0.pull = next(2) == 0 ? .always : .onDemand
                }
            }
            let before = running
            var touched: Set<String> = []
            for step in CameraPlan(running: Array(running.values), wanted: wanted).steps {
                #expect(touched.insert(step.id).inserted)
                switch step {
                case .remove(let id): running[id] = nil
                case .add(let camera), .replaceSource(let camera), .restart(let camera), .relabel(let camera):
                    running[camera.id] = camera
                }
            }
            for (id, camera) in running where !touched.contains(id) { #expect(before[id] == camera) }
            let expected = Dictionary(wanted.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
            #expect(running == expected)
        }
    }
}
