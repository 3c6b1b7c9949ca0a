import HomeTypes
import OpenCombine
import Testing

@testable import HomeSDK

@Suite(.timeLimit(.minutes(10))) struct CombineLatestTests {
    @Test func `the newest values come together, and again when one changes`() async {
        let first = PassthroughSubject<Int, HomeError>()
        let second = PassthroughSubject<String, HomeError>()
        let recorder = Recorder(first.combineLatest(second) { "\($0)\($1)" })
        first.send(1)
        second.send("a")
        first.send(2)
        second.send("b")
        #expect(recorder.values == ["1a", "2a", "2b"])
        first.send(completion: .finished)
        second.send("c")
        #expect(recorder.values.last == "2c" && !recorder.isFinished)
        second.send(completion: .finished)
        #expect(recorder.isFinished)
    }

    @Test func `a failure of one side ends the stream`() async {
        let first = PassthroughSubject<Int, HomeError>()
        let second = PassthroughSubject<Int, HomeError>()
        let recorder = Recorder(first.combineLatest(second) { $0 + $1 })
        first.send(completion: .failure(.unavailable("gone")))
        second.send(1)
        #expect(recorder.failure == .unavailable("gone") && recorder.values.isEmpty)
    }

    @Test func `a side that ends without a value ends the stream`() async {
        let first = PassthroughSubject<Int, HomeError>()
        let second = PassthroughSubject<Int, HomeError>()
        let recorder = Recorder(first.combineLatest(second) { $0 + $1 })
        first.send(completion: .finished)
        #expect(recorder.isFinished)
    }

    @Test func `a subscriber that asks late gets the newest pair`() async {
        let first = PassthroughSubject<Int, HomeError>()
        let second = PassthroughSubject<Int, HomeError>()
        let recorder = Recorder(first.combineLatest(second) { $0 * 10 + $1 }, demand: .max(1))
        first.send(1)
        for value in 1...5 { second.send(value) }
        #expect(recorder.values == [11])
        recorder.request(.max(1))
        #expect(recorder.values == [11, 15])
    }

    @Test func `three and four publishers come together as well`() async {
        let subjects = (0..<4).map { _ in PassthroughSubject<Int, HomeError>() }
        let three = Recorder(
            subjects[0].combineLatest(subjects[1], subjects[2]).map { [$0.0, $0.1, $0.2] })
        let four = Recorder(
            subjects[0].combineLatest(subjects[1], subjects[2], subjects[3]).map { [$0.0, $0.1, $0.2, $0.3] })
        for (index, subject) in subjects.enumerated() { subject.send(index) }
        #expect(three.values == [[0, 1, 2]])
        #expect(four.values == [[0, 1, 2, 3]])
    }

    @Test func `collections of the home can be combined`() async {
        let script = ScriptedHome()
        let recorder = Recorder(
            script.home.rooms().batched().combineLatest(script.home.structures().batched()) { $0.count * 10 + $1.count }
                .removeDuplicates())
        script.state([Sample.structure(), Sample.room("r1", name: "Hall")])
        await recorder.wait(for: 1)
        script.change(Sample.room("r2", name: "Bath"))
        #expect(await recorder.wait(for: 2) == [11, 21])
    }
}
