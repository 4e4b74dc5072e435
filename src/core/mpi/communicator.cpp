#include "pibinn/communicator.hpp"

#include <algorithm>
#include <cstdlib>

#include "core/mpi/calls.hpp"
#include "core/mpi/ordered_sum.hpp"
#include "core/mpi/shared_file.hpp"
#include "pibinn/error.hpp"

namespace pibinn::mpi {

namespace {

// A count of MPI is an int.
constexpr std::size_t kMostBytes = std::size_t{1} << 30U;
constexpr int kQuestion = 1, kAnswer = 2, kExchange = 3;

class MpiCommunicator final : public Communicator {
public:
    MpiCommunicator() {
        int threads = MPI_THREAD_SINGLE;
        MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &threads);
        if (threads < MPI_THREAD_SERIALIZED)
            fail_usage("this MPI cannot be called by several threads in turn",
                       "use one that was built with support for threads");
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        check(MPI_Comm_dup(MPI_COMM_WORLD, &work_), "start");
        check(MPI_Comm_dup(MPI_COMM_WORLD, &talk_), "start");
        MPI_Comm_rank(work_, &rank_);
        MPI_Comm_size(work_, &size_);
    }
    ~MpiCommunicator() override {
        try {
            barrier();  // a rank that is done early sleeps here, where MPI_Finalize would spin
        } catch (const Error&) {
            abort(1);
        }
        MPI_Comm_free(&talk_);
        MPI_Comm_free(&work_);
        MPI_Finalize();
    }

    std::size_t rank() const override { return static_cast<std::size_t>(rank_); }
    std::size_t size() const override { return static_cast<std::size_t>(size_); }

    void broadcast(std::span<std::byte> bytes, std::size_t from) override {
        while (!bytes.empty()) {
            const std::size_t part = std::min(bytes.size(), kMostBytes);
            complete("broadcast", [&](MPI_Request* request) {
                return MPI_Ibcast(bytes.data(), static_cast<int>(part), MPI_BYTE,
                                  static_cast<int>(from), work_, request);
            });
            bytes = bytes.subspan(part);
        }
    }

    void all_gather(std::span<const std::byte> own, std::span<std::byte> all) override {
        ensure(all.size() == own.size() * size(), "as many bytes of every rank");
        // Rank by rank where an int cannot count them.
        if (all.size() > kMostBytes) {
            for (std::size_t r = 0; r < size(); ++r) {
                const auto part = all.subspan(r * own.size(), own.size());
                if (r == rank()) std::copy(own.begin(), own.end(), part.begin());
                broadcast(part, r);
            }
            return;
        }
        if (own.empty()) return;
        complete("gather", [&](MPI_Request* request) {
            return MPI_Iallgather(own.data(), static_cast<int>(own.size()), MPI_BYTE, all.data(),
                                  static_cast<int>(own.size()), MPI_BYTE, work_, request);
        });
    }

    void exchange(std::span<const std::span<const std::byte>> out,
                  std::span<const std::span<std::byte>> in) override {
        ensure(out.size() == size() && in.size() == size(), "bytes for every rank, and of every");
        std::vector<MPI_Request> requests;
        // Messages between two ranks keep their order.
        const auto start = [&](std::span<const std::byte> bytes, const auto& call) {
            for (; !bytes.empty(); bytes = bytes.subspan(std::min(bytes.size(), kMostBytes))) {
                const std::lock_guard lock(calls_.mutex());
                check(call(bytes.data(), static_cast<int>(std::min(bytes.size(), kMostBytes)),
                           &requests.emplace_back(MPI_REQUEST_NULL)),
                      "exchange");
            }
        };
        for (std::size_t r = 0; r < size(); ++r) {
            if (r == rank()) continue;
            start(in[r], [&](const std::byte* into, int bytes, MPI_Request* request) {
                return MPI_Irecv(const_cast<std::byte*>(into), bytes, MPI_BYTE, static_cast<int>(r),
                                 kExchange, work_, request);
            });
        }
        for (std::size_t r = 0; r < size(); ++r) {
            if (r == rank()) continue;
            start(out[r], [&](const std::byte* from, int bytes, MPI_Request* request) {
                return MPI_Isend(from, bytes, MPI_BYTE, static_cast<int>(r), kExchange, work_,
                                 request);
            });
        }
        std::copy(out[rank()].begin(), out[rank()].end(), in[rank()].begin());
        for (MPI_Request& request : requests) calls_.wait(request);
    }

    void barrier() override {
        complete("meet", [&](MPI_Request* request) { return MPI_Ibarrier(work_, request); });
    }

    std::unique_ptr<OrderedSum> ordered_sum(std::vector<SumPiece> pieces, std::size_t adding,
                                            AddOwn add) override {
        return std::make_unique<ChainSum>(calls_, work_, std::move(pieces), adding, std::move(add));
    }

    std::string ask(std::string_view question) override {
        const std::lock_guard one(asking_);
        send(question, 0, kQuestion);
        std::string answer;
        Patience patience(calls_);
        int from = 0;
        while (!receive(0, kAnswer, answer, from)) patience.pause();
        return answer;
    }

    bool answer(const Answer& answer) override {
        bool any = false;
        std::string question;
        for (int from = 0; receive(MPI_ANY_SOURCE, kQuestion, question, from); any = true)
            send(answer(static_cast<std::size_t>(from), question), from, kAnswer);
        return any;
    }

    std::unique_ptr<SharedFile> open_here(const std::filesystem::path& path, bool writes) override {
        return std::make_unique<MpiFile>(calls_, path, writes);
    }

    void while_waiting(std::function<void()> call) override {
        calls_.while_waiting(std::move(call));
    }

    [[noreturn]] void abort(int code) noexcept override {
        MPI_Abort(MPI_COMM_WORLD, code);
        std::_Exit(code);
    }

private:
    template <class Start>
    void complete(const char* what, const Start& start) {
        MPI_Request request = MPI_REQUEST_NULL;
        {
            const std::lock_guard lock(calls_.mutex());
            check(start(&request), what);
        }
        calls_.wait(request);
    }

    void send(std::string_view text, int to, int tag) {
        complete("send", [&](MPI_Request* request) {
            return MPI_Isend(text.data(), static_cast<int>(text.size()), MPI_BYTE, to, tag, talk_,
                             request);
        });
    }

    /// The next message, if there is one.
    bool receive(int source, int tag, std::string& text, int& from) {
        const std::lock_guard lock(calls_.mutex());
        int there = 0, bytes = 0;
        MPI_Status status;
        check(MPI_Iprobe(source, tag, talk_, &there, &status), "listen");
        if (there == 0) return false;
        MPI_Get_count(&status, MPI_BYTE, &bytes);
        text.resize(static_cast<std::size_t>(bytes));
        from = status.MPI_SOURCE;
        check(MPI_Recv(text.data(), bytes, MPI_BYTE, from, tag, talk_, MPI_STATUS_IGNORE),
              "receive");
        return true;
    }

    Calls calls_;
    std::mutex asking_;
    MPI_Comm work_ = MPI_COMM_NULL;  ///< what all ranks do
    MPI_Comm talk_ = MPI_COMM_NULL;  ///< questions and answers
    int rank_ = 0, size_ = 1;
};

}  // namespace

}  // namespace pibinn::mpi

extern "C" const char* pibinn_mpi_version() { return PIBINN_VERSION; }
extern "C" pibinn::Communicator* pibinn_mpi_start() { return new pibinn::mpi::MpiCommunicator; }
